"""What a student's file is called, as a text that can be stored and shown."""

import re
from pathlib import Path, PurePath

LeftOut = list[tuple[Path, str]]
"""Files that are not graded, called as in the class's folder, each with the reason."""

# Control characters, line separators, what turns the direction of the text around it, and the
# halves of characters that stand for bytes that are no UTF-8.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """Return a file's name, or a text with one, with escapes for what no file or terminal takes.

    Different names stay different: a byte that is no UTF-8 becomes an escape too.
    """
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def readable_path(path: PurePath) -> Path:
    """Return a path with readable names; it may not lead to the file any more."""
    return Path(*map(readable, path.parts))
