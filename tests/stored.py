"""What somebody has looked at, and stored; `STORE=1 python3 course.py test FILE` stores it anew."""

import os
from pathlib import Path


def assert_as_stored(file: Path, text: str) -> None:
    """Compare a text with a stored one; store it first if a maintainer asks for that."""
    if "STORE" in os.environ:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8"), "look at the new one, then store it: tests/stored.py"
