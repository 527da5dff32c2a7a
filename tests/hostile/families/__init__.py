"""The families of cases: one module each, with a `family` that holds its cases."""

from importlib import import_module
from pkgutil import iter_modules

from tests.hostile.case import Case


def all_cases() -> list[Case]:
    """Return the cases of all families, by the families' names."""
    names = sorted(module.name for module in iter_modules(__path__, f"{__name__}."))
    return [case for name in names for case in import_module(name).family.cases]
