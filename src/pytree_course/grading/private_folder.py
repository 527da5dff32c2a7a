"""Private temporary folders; those that killed gradings left are swept when a later one starts."""

import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "pytree-course-"
_LOCK = "lock"  # locked as long as the process that made the folder lives


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a temporary folder that no other user can look into, and remove it in the end."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = None
    try:
        lock = _locked_for_good(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@functools.cache  # once in each process
def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _was_left(folder):
            shutil.rmtree(folder, ignore_errors=True)


if sys.platform == "win32":

    def _locked_for_good(folder: Path) -> int | None:
        return None

    def _was_left(folder: Path) -> bool:
        return False  # Windows sweeps its temporary folder itself

else:

    def _locked_for_good(folder: Path) -> int | None:
        """Lock a new folder until this process ends."""
        unlocked = folder / "unlocked"
        lock = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # It has its name only now, so that a sweep never finds it unlocked.
        unlocked.rename(folder / _LOCK)
        return lock

    def _was_left(folder: Path) -> bool:
        """Whether a folder is our own, and the process that made it has ended."""
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                return False
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(lock)
        return True
