"""The configuration of JAX that the course computes results with, whatever a shell sets.

A process that computes results drops its shell's settings before it imports JAX. In a learner's
kernel, the learner's settings hold outside of checks.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

XLA_FLAGS = "XLA_FLAGS"
"""The environment variable that XLA reads, once in each process."""

VARIABLES = {"JAX_PLATFORMS": "cpu"}
"""Each machine has a CPU, and a sandbox sees no other device."""

SETTINGS = {
    "jax_check_tracer_leaks": False,
    "jax_debug_infs": False,
    "jax_debug_key_reuse": False,
    "jax_debug_nans": False,
    "jax_default_prng_impl": "threefry2x32",
    "jax_disable_jit": False,
    "jax_enable_checks": False,
    "jax_enable_custom_prng": False,
    "jax_enable_x64": False,
    "jax_high_dynamic_range_gumbel": False,
    "jax_legacy_prng_key": "allow",
    "jax_numpy_dtype_promotion": "standard",
    "jax_numpy_rank_promotion": "allow",
    "jax_random_seed_offset": 0,
    "jax_threefry_partitionable": True,
    "jax_transfer_guard": None,
    # By default a device may round the factors of a product, a TPU to 8 bits.
    "jax_default_matmul_precision": "highest",
}
"""The settings that results depend on: all but the last have JAX's defaults."""

_NUMPY_SETTINGS: dict[str, Any] = {
    "divide": "warn",
    "over": "warn",
    "under": "ignore",
    "invalid": "warn",
}


def drop_shells_settings() -> bool:
    """Define the variables of JAX in this process's environment; return whether any was changed.

    Processes that this one starts inherit them. JAX reads them when it is imported.
    """
    found = {name: os.environ[name] for name in os.environ if re.match(r"JAX_|XLA_FLAGS$", name)}
    for name in found:
        del os.environ[name]
    os.environ.update(VARIABLES)
    return found != VARIABLES


@contextmanager
def defined_settings() -> Iterator[None]:
    """Within this context, use the settings above; then put back those before it."""
    import jax  # not above: most commands do without it

    before = {name: value for name, value in jax.config.values.items() if name in SETTINGS}
    _use(SETTINGS)
    try:
        with np.errstate(**_NUMPY_SETTINGS):
            yield
    finally:
        _use(before)


def _use(settings: Mapping[str, Any]) -> None:
    import jax

    current = jax.config.values
    for name, value in settings.items():
        if current.get(name, value) != value:  # an older JAX does not have all of them
            jax.config.update(name, value)  # type: ignore[no-untyped-call]


def find_missing_platforms() -> str | None:
    """Return the platforms that JAX was told to use, if it cannot; no check can change that."""
    import jax

    platforms: str | None = jax.config.jax_platforms  # type: ignore[attr-defined]
    if not platforms:
        return None
    try:
        jax.devices()
    except Exception:  # an AssertionError, or a RuntimeError
        return platforms
    return None
