"""Write files atomically; one that cannot be written does not stop the others."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Replace a file at once: where that fails, as on a full disk, the old one stays as it is."""
    draft = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8", newline="")
        os.replace(draft, file)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_each(texts: Mapping[Path, Callable[[], str]]) -> list[str]:
    """Make and write each text; return a sentence for each file that could not be written."""
    trouble = []
    for file, make in texts.items():
        try:
            write_whole(file, make())
        except OSError as error:
            trouble.append(f"{file}: {error.strerror or error}")
        except Exception as error:  # whatever a class's work makes of our own code
            trouble.append(f"{file}: {type(error).__name__}: {error}")
    return trouble
