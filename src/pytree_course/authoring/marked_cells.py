"""The marked cells of answers.py, which jupytext reads, each with the line where it begins."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_MARK = re.compile(r"\s*#\s*%%(%*\s|$)")
"""What jupytext takes for the mark of a cell: `# %%`, also without its space."""


_TO_BE_NAMED = """\
# %% exercise="{exercise}" misconception="name_it"
\"\"\"Say what is believed, and what JAX does.\"\"\"
{code}
"""


def marked_cells(text: str) -> list[tuple[int, "NotebookNode"]]:
    """Return the cells that have a mark, each with its line."""
    import jupytext  # takes long to load, and a class report, which writes cells, does without
    from jupytext.stringparser import StringParser

    marks, parser = [], StringParser("python")
    for at, line in enumerate(text.splitlines(), 1):
        if not parser.is_quoted() and CELL_MARK.match(line):
            marks.append(at)
        parser.read_line(line)
    cells = jupytext.reads(text, fmt="py:percent").cells
    # What stands before the first mark is a cell without one.
    return list(zip(marks, cells[len(cells) - len(marks) :], strict=True))


def misconception_cell(exercise: str, answer: str) -> str:
    """Return an answer as a cell for answers.py; its name and explanation are left to the author.

    A line of the answer that would begin another cell is kept as a plain comment.
    """
    lines = answer.strip("\n").splitlines()
    kept = [line.replace("%%", "% %", 1) if CELL_MARK.match(line) else line for line in lines]
    return _TO_BE_NAMED.format(exercise=exercise, code="\n".join(kept))
