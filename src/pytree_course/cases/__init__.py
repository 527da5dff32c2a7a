"""The toolkit of check scripts: cases, random inputs, guards around answers."""

from pytree_course.cases.case import Case, check, prediction_cases
from pytree_course.cases.guards import (
    acyclic,
    as_int,
    as_jax,
    is_one_program,
    making,
    returning_jax,
)
from pytree_course.cases.random_inputs import (
    Duo,
    Point,
    matrix,
    random_model,
    random_tree,
    random_words,
    shuffled,
    small_trees,
    vector,
)

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
    "small_trees",
    "vector",
]
