"""What a student's file is called, as a text that can be stored and shown."""

from pathlib import Path, PurePath

from pytree_course.printable import printable

LeftOut = list[tuple[Path, str]]
"""Files that are not graded, called as in the class's folder, each with the reason."""


def printable_path(path: PurePath) -> Path:
    """Return a path with printable names; it may not lead to the file any more."""
    return Path(*map(printable, path.parts))
