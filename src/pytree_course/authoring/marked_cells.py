"""The marked cells of answers.py, which jupytext reads, each with the line where it begins."""

import re

import jupytext
from jupytext.stringparser import StringParser
from nbformat import NotebookNode

CELL_MARK = re.compile(r"\s*#\s*%%(%*\s|$)")
"""What jupytext takes for the mark of a cell: `# %%`, also without its space."""


def marked_cells(text: str) -> list[tuple[int, NotebookNode]]:
    """Return the cells that have a mark, each with its line."""
    marks, parser = [], StringParser("python")
    for at, line in enumerate(text.splitlines(), 1):
        if not parser.is_quoted() and CELL_MARK.match(line):
            marks.append(at)
        parser.read_line(line)
    cells = jupytext.reads(text, fmt="py:percent").cells
    # What stands before the first mark is a cell without one.
    return list(zip(marks, cells[len(cells) - len(marks) :], strict=True))
