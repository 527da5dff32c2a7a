"""The cells of answers.py, each of which begins with a mark: how they are read and written."""

import re

CELL_MARK = re.compile(r"^# *%%(.*)\n?", re.MULTILINE)
OPTION = re.compile(r'(\w+)=(?:"([^"]*)"|True)')

_TO_BE_NAMED = """\
# %% exercise="{exercise}" misconception="name_it"
\"\"\"Say what is believed, and what JAX does.\"\"\"
{code}
"""


def marked_cells(text: str) -> list[tuple[int, dict[str, str], str]]:
    """Return the cells: the line of each, what its mark says, and its source."""
    marks = list(CELL_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    cells = []
    for mark, end in zip(marks, ends, strict=True):
        line = text.count("\n", 0, mark.start()) + 1
        said = dict(OPTION.findall(mark[1]))
        cells.append((line, said, text[mark.end() : end].strip("\n")))
    return cells


def misconception_cell(exercise: str, answer: str) -> str:
    """Return an answer as a cell for answers.py; its name and explanation are left to the author.

    A line of the answer that would begin another cell is kept as a plain comment.
    """
    code = CELL_MARK.sub(lambda mark: mark[0].replace("#", "#:", 1), answer.strip("\n"))
    return _TO_BE_NAMED.format(exercise=exercise, code=code)
