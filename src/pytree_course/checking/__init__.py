"""Checks: what a check script is written with; the learner's own check is in `checks`."""

from pytree_course.checking.cases import (
    Case,
    Point,
    as_int,
    as_jax,
    check,
    is_one_program,
    matrix,
    random_model,
    random_tree,
    random_words,
    returning_jax,
    vector,
)
from pytree_course.checking.cycles import acyclic, making
from pytree_course.checking.inputs import Duo, shuffled, varied_trees
from pytree_course.checking.predictions import prediction_cases

__all__ = [
    "Case",
    "Duo",
    "Point",
    "acyclic",
    "as_int",
    "as_jax",
    "check",
    "is_one_program",
    "making",
    "matrix",
    "prediction_cases",
    "random_model",
    "random_tree",
    "random_words",
    "returning_jax",
    "shuffled",
    "varied_trees",
    "vector",
]
