"""Write files atomically; one that cannot be written does not stop the others."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pytree_course.course import write_file


def write_each(texts: Mapping[Path, Callable[[], str]]) -> list[str]:
    """Make and write each text; return a sentence for each file that could not be written."""
    trouble = []
    for file, make in texts.items():
        try:
            write_file(file, make())
        except OSError as error:
            trouble.append(f"{file}: {error.strerror or error}")
        except Exception as error:  # whatever a class's work makes of our own code
            trouble.append(f"{file}: {type(error).__name__}: {error}")
    return trouble
