"""The vocabulary of check scripts: cases, varied inputs, and guards for answers."""

import importlib
from typing import Any

_FOR_CHECK_SCRIPTS = {
    "case": (
        *("Case", "Point", "acyclic", "as_int", "as_jax", "check", "is_one_program", "making"),
        *("matrix", "prediction_cases", "random_model", "random_tree", "random_words"),
        *("returning_jax", "vector"),
    ),
    "inputs": ("shuffled", "varied_trees"),
    "vocabulary": ("Duo",),
}


def __getattr__(name: str) -> Any:
    # Imported on demand: processes that only judge observations do without JAX.
    for module, names in _FOR_CHECK_SCRIPTS.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
