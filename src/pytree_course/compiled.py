"""JAX's persistent compilation cache of the author's answers, which graded kernels can read.

The key of a compiled program is a digest of the whole program, so only code that compiles the same
program finds it. The folder that kernels see cannot be listed.
"""

import contextlib
import functools
import hashlib
import os
import platform
import sys
import warnings
from pathlib import Path

CACHE = Path(sys.prefix) / "cache"
"""In the course's environment. A learner's code sees only `visible_programs()`."""

MAX_PROGRAMS = 20_000

# Not even its owner may list it: inside the sandbox, that is the learner's code.
_NOT_LISTED = 0o311
_READABLE = 0o444  # and root's kernels run as another user

_READ_ONLY = {
    "jax_persistent_cache_min_compile_time_secs": 1e9,  # so nothing is written
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_persistent_cache_enable_xla_caches": "none",  # its folder would be part of every key
}


def kept_programs() -> Path:
    """Return the folder that JAX itself writes to."""
    return _of_this_machine() / "kept"


def visible_programs() -> Path:
    """Return the folder that kernels see."""
    return _of_this_machine() / "shown"


def can_keep() -> bool:
    """Return whether this environment is writable; if not, kernels compile everything."""
    nearest_existing = next(folder for folder in _of_this_machine().parents if folder.exists())
    return os.access(nearest_existing, os.W_OK)


def use_compiled_programs(*, keep: bool) -> None:
    """Let JAX read the cache and, with `keep`, add what this process compiles.

    A program that was compiled for the fresh cases of a grading must not be kept: its presence
    would reveal something about them.
    """
    import jax  # not above: starting kernels does not need it

    options = {**_READ_ONLY, "jax_compilation_cache_dir": str(kept_programs())}
    if keep:
        options["jax_persistent_cache_min_compile_time_secs"] = 0
    # Never by environment variables: kernels inherit them, and lessons measure compiling.
    for name, value in options.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
    # JAX compiles a program again if its entry is incomplete or the disk is full.
    warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache")


def make_folders() -> None:
    """Make the one folder of `CACHE` that sandboxes can see, before a sandbox is made.

    A sandbox hides the rest of `CACHE`; it can hide only what exists when it is made.
    """
    if can_keep():
        visible_programs().mkdir(parents=True, exist_ok=True)
        visible_programs().chmod(_NOT_LISTED)


def show_compiled_programs() -> None:
    """Let kernels see the programs kept so far; if there are too many, delete all of them."""
    if not can_keep():
        return
    make_folders()
    entries = [*kept_programs().iterdir()] if kept_programs().exists() else []
    if len(entries) > MAX_PROGRAMS:
        # The stamps too: otherwise nothing would be compiled for kernels again.
        stamps = [file for file in _of_this_machine().iterdir() if file.is_file()]
        # By name, because the visible folder cannot be listed.
        visible = [visible_programs() / entry.name for entry in entries]
        for file in (*stamps, *visible, *entries):
            file.unlink(missing_ok=True)
        return
    for entry in entries:
        # Another process may link or remove the same entry.
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            entry.chmod(_READABLE)
            os.link(entry, visible_programs() / entry.name)


def stamp(*contents: str) -> Path:
    """Return the file that marks the programs of these answers and checks as visible."""
    return _of_this_machine() / hashlib.sha256("\0".join(contents).encode()).hexdigest()


def kernel_variables(place: str) -> dict[str, str]:
    """Return the environment variables that make a kernel read the cache at a path."""
    options = {**_READ_ONLY, "jax_compilation_cache_dir": place}
    return {name.upper(): str(value) for name, value in options.items()}


@functools.cache
def _of_this_machine() -> Path:
    """Return the folder for this kind of processor, which JAX's keys do not include."""
    processor = platform.machine() + platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8", errors="replace").splitlines()
        kinds = ("model name", "flags", "Features", "CPU implementer", "CPU part")
        processor += "".join(sorted({line for line in lines if line.startswith(kinds)}))
    return CACHE / "compiled" / hashlib.sha256(processor.encode()).hexdigest()[:16]
