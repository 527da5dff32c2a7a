"""Checks: what a check script is written with, and what an exercise notebook calls."""

from pytree_course.checking.cases import (
    Case,
    Point,
    as_int,
    check,
    random_model,
    random_tree,
    random_words,
)
from pytree_course.checking.checks import Checks

__all__ = [
    "Case",
    "Checks",
    "Point",
    "as_int",
    "check",
    "random_model",
    "random_tree",
    "random_words",
]
