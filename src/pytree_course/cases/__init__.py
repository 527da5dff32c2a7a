"""What check scripts are written with: cases, random inputs, guards around answers."""

import importlib
from typing import Any

_FOR_CHECK_SCRIPTS = {
    "case": ("Case", "check", "prediction_cases"),
    "guards": ("acyclic", "as_int", "as_jax", "is_one_program", "making", "returning_jax"),
    "random_inputs": (
        *(
            "Duo",
            "Point",
            "matrix",
            "random_model",
            "random_tree",
            "random_words",
            "shuffled",
            "small_trees",
        ),
        "vector",
    ),
}


def __getattr__(name: str) -> Any:
    # Imported on demand: processes that only judge observations do without JAX.
    for module, names in _FOR_CHECK_SCRIPTS.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
