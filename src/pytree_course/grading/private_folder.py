"""Private temporary folders; what killed gradings left is removed when a later one starts."""

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
        new = Path(tempfile.mkdtemp(prefix=f"new-{_PREFIX}"))
        folder = new.with_name(new.name.removeprefix("new-"))
        lock = _opened(new)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until this process ends
            new.rename(folder)  # only now, so that a sweep never finds it unlocked
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    @functools.cache  # once in each process
    def _sweep() -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if _was_left(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def _was_left(folder: Path) -> bool:
        """Say whether a folder is this user's, and the process that made it has ended."""
        try:
            lock = _opened(folder)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.fstat(lock).st_uid == os.geteuid()
        except OSError:
            return False
        finally:
            os.close(lock)

    def _opened(folder: Path) -> int:
        return os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
