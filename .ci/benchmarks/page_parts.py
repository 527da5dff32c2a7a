"""The parts of docs/performance.md that benchmarks write; the text around them is kept."""

import re
from collections.abc import Sequence
from pathlib import Path

from pytree_course.course import write_file

PAGE = "docs/performance.md"


def put(root: Path, part: str, text: str) -> None:
    """Put a benchmark's text between its marks: `<!-- PART: begin -->` and `<!-- PART: end -->`."""
    page = root / PAGE
    marked = re.compile(rf"(<!-- {part}: begin[^>]*-->\n).*?(<!-- {part}: end -->)", re.DOTALL)
    whole, count = marked.subn(
        lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", page.read_text(encoding="utf-8")
    )
    if count != 1:
        raise ValueError(
            f"{page} has to have the marks of {part!r} once; it has them {count} times"
        )
    write_file(page, whole)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown: the first column is text, the others are numbers."""
    line = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, line, *rows))


def short(number: float) -> str:
    """Write a number with two digits or three: more would be noise."""
    return f"{number:.0f}" if number >= 20 else f"{number:.1f}"
