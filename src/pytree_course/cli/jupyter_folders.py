"""Temporary folders for Jupyter's settings and histories, where the user's are read-only."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

from pytree_course.cli.app import warn


@contextmanager
def writable_folders() -> Iterator[dict[str, str]]:
    """Yield environment variables that name temporary folders for those that are read-only.

    JupyterLab does not start without folders for its settings, the signatures of trusted notebooks
    and the keys to its kernels.
    """
    folders = {
        "JUPYTER_CONFIG_DIR": jupyter_config_dir(),
        "JUPYTER_DATA_DIR": jupyter_data_dir(),
        "JUPYTER_RUNTIME_DIR": jupyter_runtime_dir(),
        "IPYTHONDIR": os.environ.get("IPYTHONDIR", "~/.ipython"),
        "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", "~/.config/matplotlib"),
    }
    failed = {}
    for name, folder in folders.items():
        try:
            _try_to_write(Path(folder).expanduser())
        except OSError as error:
            failed[name] = f"{folder} cannot be written ({error.strerror})"
    if not failed:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="pytree-course-jupyter-") as temporary:
        warn(
            f"Jupyter's own folder {next(iter(failed.values()))}: its settings and histories of "
            "this session go into a temporary one. Your notebooks do not."
        )
        variables = {name: str(Path(temporary, name.lower())) for name in failed}
        for folder in variables.values():
            Path(folder).mkdir()
        yield variables


def _try_to_write(folder: Path) -> None:
    """Write a file into a folder, or into the one that it would be made in, and remove it."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    probe = there / f".pytree-course-{os.getpid()}"  # tempfile may hang on Windows
    try:
        probe.write_bytes(b"?")
    finally:
        probe.unlink(missing_ok=True)
