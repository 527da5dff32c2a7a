"""The families of cases: one module each, with a `family` that holds its cases."""

from importlib import import_module
from pkgutil import iter_modules

from tests.hostile.case import LESSON, Case

_EVERYDAY = 5
"""Of a family's cases, each fifth one is tried in every run."""


def all_cases() -> list[Case]:
    """Return the cases of all families, by the families' names."""
    return [case for cases in _by_family() for case in cases]


def everyday_cases() -> list[Case]:
    """Return some cases of each family; they stand for all, and need one lesson's answers only."""
    some = [case for cases in _by_family() for case in cases[::_EVERYDAY]]
    return [case for case in some if case.lesson == LESSON]


def _by_family() -> list[list[Case]]:
    names = sorted(module.name for module in iter_modules(__path__, f"{__name__}."))
    return [import_module(name).family.cases for name in names]
