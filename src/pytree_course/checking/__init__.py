"""Checks: what a check script is written with; the learner's own check is in `checks`."""

from pytree_course.checking.cases import (
    Case,
    Point,
    as_int,
    check,
    random_model,
    random_tree,
    random_words,
)

__all__ = ["Case", "Point", "as_int", "check", "random_model", "random_tree", "random_words"]
