"""The marked cells of answers.py, as jupytext marks them, each with the line where it begins."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_MARK = re.compile(r"\s*#\s*(%%(%*\s|$)|(<codecell>|In\[[0-9 ]*\]:?)\s*$)")
"""What jupytext takes for the mark of a cell: `# %%`, and those that other programs write."""


_TO_BE_NAMED = """\
# %% exercise="{exercise}" misconception="name_it"
\"\"\"Say what is believed, and what JAX does.\"\"\"
{code}
"""


def marked_cells(text: str) -> list[tuple[int, "NotebookNode"]]:
    """Return the cells that have a mark, each with its line.

    Their source is taken as it stands: jupytext, which reads the marks, would end a line also at a
    form feed, and make code of a comment that looks like a magic command.
    """
    # They take long to load, and a class report, which writes cells, does without.
    import nbformat
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
    for at, end in zip(marks, [*marks[1:], len(lines)], strict=True):
        reader.metadata_and_language_from_option_line(lines[at])
        metadata = dict(reader.metadata)
        kind = metadata.pop("cell_type", "code")
        source = "\n".join(lines[at + 1 : end]).strip("\n")
        cell = {"cell_type": kind, "metadata": metadata, "source": source}
        cells.append((at + 1, nbformat.from_dict(cell)))
    return cells


def misconception_cell(exercise: str, answer: str) -> str:
    """Return an answer as a cell for answers.py; its name and explanation are left to the author.

    A line of the answer that would begin another cell is kept as a plain comment.
    """
    lines = answer.strip("\n").split("\n")
    kept = [line.replace("#", "#:", 1) if CELL_MARK.match(line) else line for line in lines]
    return _TO_BE_NAMED.format(exercise=exercise, code="\n".join(kept))
