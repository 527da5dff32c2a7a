"""The cells of answers.py, which begin with jupytext's marks: how they are read and written."""

import re
from itertools import pairwise
from typing import Any

CELL_MARK = re.compile(r"\s*#\s*(%%(%*\s|$)|(<codecell>|In\[[0-9 ]*\]:?)\s*$)")
"""What jupytext takes for the mark of a cell: `# %%`, and those that other programs write."""


_TO_BE_NAMED = """\
# %% exercise="{exercise}" misconception="name_it"
\"\"\"Say what is believed, and what JAX does.\"\"\"
{code}
"""


def marked_cells(text: str) -> list[tuple[int, dict[str, Any], str]]:
    """Return the cells that have a mark: the line of each, what its mark says, and its source.

    The source is taken as it stands: jupytext, which reads the marks, would end a line also at a
    form feed, and make code of a comment that looks like a magic command.
    """
    # It takes long to load, and a class report, which writes cells, does without.
    from jupytext.cell_reader import DoublePercentScriptCellReader
    from jupytext.stringparser import StringParser

    reader, quotes = DoublePercentScriptCellReader({"extension": ".py"}), StringParser("python")
    lines = text.split("\n")
    marks = []
    for at, line in enumerate(lines):
        if not quotes.is_quoted() and CELL_MARK.match(line):
            marks.append(at)
        quotes.read_line(line)
    cells = []
    for at, end in pairwise([*marks, len(lines)]):
        reader.metadata_and_language_from_option_line(lines[at])
        cells.append((at + 1, dict(reader.metadata), "\n".join(lines[at + 1 : end]).strip("\n")))
    return cells


def misconception_cell(exercise: str, answer: str) -> str:
    """Return an answer as a cell for answers.py; its name and explanation are left to the author.

    A line of the answer that would begin another cell is kept as a plain comment.
    """
    lines = answer.strip("\n").split("\n")
    kept = [line.replace("#", "#:", 1) if CELL_MARK.match(line) else line for line in lines]
    return _TO_BE_NAMED.format(exercise=exercise, code="\n".join(kept))
