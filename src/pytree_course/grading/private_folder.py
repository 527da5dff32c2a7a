"""Private temporary folders; what killed gradings left is removed when a later one starts."""

import contextlib
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "pytree-course-grading-"

if sys.platform == "win32":  # which cannot lock folders, and removes old temporary files itself

    @contextmanager
    def private_folder() -> Iterator[Path]:
        """Make a temporary folder that no other user can look into, and remove it in the end."""
        with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

else:
    import fcntl

    @contextmanager
    def private_folder() -> Iterator[Path]:
        """Make a temporary folder that no other user can look into, and remove it in the end."""
        _sweep()
        lock = None
        while lock is None:  # where a sweep was faster, another one is made
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = _locked(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    @functools.cache  # once in each process
    def _sweep() -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)

    def _locked(folder: Path) -> int | None:
        """Lock a folder of this user's until it is closed, or this process ends.

        None where another process has it, or has removed it.
        """
        lock = None
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_uid == os.geteuid() and folder.exists():
                return lock
        if lock is not None:
            os.close(lock)
        return None
