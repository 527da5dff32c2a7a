"""Helpers for strings: make them printable, shorten, word, digest and write them."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Composed emoji need the first; Persian and other scripts need both."""

# A line that begins with `def name`, `async def name`, `class name`, `name =` or `name: type =`.
_DEFINITION = re.compile(r"^(?:(?:async +)?def +|class +|(?=\w+ *(?::[^=\n]*)?=[^=]))(\w+)", re.M)


def printable(text: str) -> str:
    r"""Return a string as one line, safe to show in a terminal and in XML.

    Control and format characters, line ends, bidirectional overrides and lone surrogates become
    Python's escapes, such as `\x1b`.
    """
    return "".join(map(_printable, text))


def printable_lines(text: str) -> str:
    """Make each line of a string printable."""
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return "\n".join(line if line.isprintable() else printable(line) for line in lines)


def _printable(character: str) -> str:
    if character in _JOINERS:
        return character
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if hidden or character in "\ufffe\uffff":
        return character.encode("unicode_escape").decode()
    return character


def counted(count: float, noun: str, plural: str) -> str:
    """Write a count with its noun: `1 leaf`, `2 leaves`."""
    return f"{count:,} {noun if count == 1 else plural}"


def hours(minutes: int) -> str:
    """Format minutes: `25 min`, `1 h 25 min`, `2 h`."""
    whole_hours, rest = divmod(minutes, 60)
    if not whole_hours:
        return f"{rest} min"
    return f"{whole_hours} h {rest} min" if rest else f"{whole_hours} h"


def with_article(name: str) -> str:
    """Write a name after "a" or "an": `a KeyError`, `an UnboundLocalError`, `a UnicodeError`."""
    # "Unicode" begins with the sound of "you", "NDArray" with that of "en".
    article = "an" if re.match("[AEIOaeio]|[Uu]n(?!i)|ND|nd", name) else "a"
    return f"{article} {name}"


def shorten(text: str, limit: int) -> str:
    """Make a string printable, and cut out its middle if it is too long."""
    candidate = cut_middle(text, 4 * limit)  # first, because escaping a huge string is slow
    return cut_middle(printable(candidate), limit)


def cut_middle(text: str, limit: int) -> str:
    """Cut out the middle of a string if it is too long."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def truncate(text: str, limit: int) -> str:
    """Cut off the end of a string if it is too long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def truncate_around_difference(text: str, other: str, limit: int) -> tuple[str, str]:
    """Shorten two strings to their first difference and its surroundings."""
    if max(len(text), len(other)) <= limit:
        return text, other
    in_common = 0  # characters
    for character, other_character in zip(text, other, strict=False):
        if character != other_character:
            break
        in_common += 1
    begin = max(0, in_common - limit // 2)
    ellipsis = "…" if begin else ""
    return truncate(ellipsis + text[begin:], limit), truncate(ellipsis + other[begin:], limit)


def text_digest(*texts: str) -> str:
    """Return a digest of strings, the same on every system."""
    sha = hashlib.sha256()
    for text in texts:
        sha.update(text.encode() + b"\0")
    return f"sha256:{sha.hexdigest()}"


def defined_names(code: str) -> set[str]:
    """Return the names that code defines at its top level, even if it has a syntax error."""
    return set(_DEFINITION.findall(code))


def write_file(file: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Replace a file atomically, with the same line endings on every system."""
    draft = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.touch(mode)
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(draft, file)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def write_files(contents: Mapping[Path, Callable[[], str | bytes]]) -> list[str]:
    """Make and write each file; return a message for each one that could not be written."""
    messages = []
    for file, make_content in contents.items():
        try:
            write_file(file, make_content())
        except OSError as error:
            messages.append(f"{file}: {error.strerror or error}")
        except Exception as error:  # a bug in one report must not cost the others
            messages.append(f"{file}: {type(error).__name__}: {error}")
    return messages


def join_remarks(*remarks: str) -> str:
    """Join the remarks that are not empty."""
    return "; ".join(filter(None, remarks))
