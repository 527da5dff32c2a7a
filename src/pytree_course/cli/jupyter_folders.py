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
    with tempfile.TemporaryDirectory(prefix="pytree-course-jupyter-") as temporary:
        variables = {
            name: str(Path(temporary, name.lower()))
            for name, folder in folders.items()
            if not _can_write(Path(folder).expanduser())
        }
        if variables:
            warn(
                f"Jupyter's own folder {folders[next(iter(variables))]} cannot be written: its "
                "settings and histories of this session go into a temporary one. Your notebooks "
                "do not."
            )
        yield variables


def _can_write(folder: Path) -> bool:
    """Say whether a folder, or the one that it would be made in, can be written."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return os.access(there, os.W_OK)
