"""JAX's persistent compilation cache of the author's answers, which graded kernels can read.

The key of a compiled program is a digest of the whole program. A sandbox sees the folder read-only
and cannot list it (`enter.py`), so only code that compiles to the same program finds it.
"""

import contextlib
import functools
import hashlib
import platform
import sys
import warnings
from pathlib import Path

CACHE = Path(sys.prefix) / "cache"  # in the course's environment, which every sandbox sees

FOLDER_VARIABLE = "JAX_COMPILATION_CACHE_DIR"

_READ_ONLY = {
    "jax_persistent_cache_min_compile_time_secs": 1e9,  # no program takes that long
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_persistent_cache_enable_xla_caches": "none",  # XLA's folder would be part of every key
}


def use_compiled_programs(*, keep: bool) -> None:
    """Let JAX read the cache and, with `keep`, add what this process compiles.

    A program that was compiled for the fresh cases of a grading must not be kept: its presence
    would reveal something about them.
    """
    import jax  # not above: a process that only starts kernels does not need it

    options = {**_READ_ONLY, "jax_compilation_cache_dir": str(programs_folder())}
    if keep:
        options["jax_persistent_cache_min_compile_time_secs"] = 0
    # Not with environment variables, which kernels inherit: lessons measure compilation.
    for name, value in options.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    # JAX compiles a program again if its entry is incomplete or the disk is full.
    warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache")


def kernel_variables() -> dict[str, str]:
    """Return the environment variables that make a kernel read the cache; none without a cache."""
    if not programs_folder().parent.is_dir():
        return {}
    options = {name.upper(): str(value) for name, value in _READ_ONLY.items()}
    return {**options, FOLDER_VARIABLE: str(programs_folder())}


def marker(*contents: str) -> Path:
    """Return the file that exists if the programs of these answers and checks are in the cache."""
    return programs_folder() / hashlib.sha256("\0".join(contents).encode()).hexdigest()


@functools.cache
def programs_folder() -> Path:
    """Make and return the folder for this kind of processor, which is not part of JAX's keys."""
    processor = platform.machine() + platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8", errors="replace").splitlines()
        kinds = ("model name", "flags", "Features", "CPU implementer", "CPU part")
        processor += "".join(sorted({line for line in lines if line.startswith(kinds)}))
    folder = CACHE / "compiled" / hashlib.sha256(processor.encode()).hexdigest()[:16]
    with contextlib.suppress(OSError):  # if the environment is read-only, kernels compile
        folder.mkdir(parents=True, exist_ok=True)
    return folder
