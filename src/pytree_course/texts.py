"""Helpers for plain text: shorten it, cut it off, write a count with its noun."""

from pytree_course.printable import printable


def counted(count: int, noun: str, plural: str) -> str:
    """Write a count with its noun: `1 leaf`, `2 leaves`."""
    return f"{count:,} {noun if count == 1 else plural}"


def shorten(text: str, limit: int) -> str:
    """Make text printable and cut its middle out where it is too long."""
    return cut_middle(printable(cut_middle(str(text), 4 * limit)), limit)


def cut_middle(text: str, limit: int) -> str:
    """Cut the middle out where a text is too long."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def truncate(text: str, limit: int) -> str:
    """Cut the end off where a text is too long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
