"""Checks: what a check script is written with; the learner's own check is in `checks`."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_NOT_IN_CASES = {
    **dict.fromkeys(("acyclic", "making"), "cycles"),
    **dict.fromkeys(("Duo", "shuffled", "varied_trees"), "inputs"),
    "prediction_cases": "predictions",
}


def __getattr__(name: str) -> Any:
    # Not imported until asked for: who only judges what was observed does without JAX.
    if name in __all__:
        module = f"{__name__}.{_NOT_IN_CASES.get(name, 'cases')}"
        return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
