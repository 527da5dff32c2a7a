"""The families of cases: one module each, with a `family` that holds its cases."""

from importlib import import_module
from pkgutil import iter_modules

from tests.hostile.case import Case, Family


def families() -> list[Family]:
    """Return all families, by the names of their modules."""
    names = sorted(module.name for module in iter_modules(__path__, f"{__name__}."))
    return [import_module(name).family for name in names]


def all_cases() -> list[Case]:
    """Return the cases of all families."""
    return [case for family in families() for case in family.cases]
