"""The notation of answers.py: marked cells, explanations, and answers as changes of another.

A change looks like the body of a diff, without line numbers. Lines after `-` are replaced by lines
after `+`; lines after a blank are unchanged, and say where the change belongs. A line `...` stands
for any lines between two places.
"""

import ast
import re
from dataclasses import dataclass
from itertools import groupby

BETWEEN = "..."
"""The line between two places of a change."""


class ChangeError(ValueError):
    """A change does not fit the answer that it changes.

    Attributes
    ----------
    line
        The line of the change that is at fault, counted from 0.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class _Place:
    """Lines of an answer, and those that replace them."""

    line: int  # of the change, where it begins
    old: list[str]
    new: list[str]


def changed(source: str, change: str) -> str:
    """Return an answer's code with a change applied.

    Parameters
    ----------
    source
        The code of the answer.
    change
        The change, in the notation above.

    Raises
    ------
    ChangeError
        If a line of the change has no sign, or the lines that it replaces do not occur exactly
        once in the code, below the place before.
    """
    lines = source.splitlines()
    result: list[str] = []
    for place in _places(change):
        matches = [
            start
            for start in range(len(lines) - len(place.old) + 1)
            if lines[start : start + len(place.old)] == place.old
        ]
        if len(matches) != 1:
            why = "do not occur"
            if matches:
                why = "occur more than once: add a line above or below, after a blank"
            raise ChangeError(place.line, f"these lines {why}:\n" + "\n".join(place.old))
        [start] = matches
        result += [*lines[:start], *place.new]
        lines = lines[start + len(place.old) :]
    return "\n".join([*result, *lines])


def _places(change: str) -> list[_Place]:
    """Parse a change into its places, from top to bottom."""
    numbered = list(enumerate(change.splitlines()))
    places = []
    for is_between, group in groupby(numbered, lambda line: line[1] == BETWEEN):
        if is_between:
            continue
        lines = list(group)
        first_number, _ = lines[0]
        for number, line in lines:
            if line[:1] not in ("", " ", "-", "+"):
                raise ChangeError(number, f"begin this line with -, + or a blank: {line}")
        old = [line[1:] for _, line in lines if line[:1] != "+"]
        new = [line[1:] for _, line in lines if line[:1] != "-"]
        if not old:
            raise ChangeError(first_number, "say after - or a blank where these lines belong")
        places.append(_Place(first_number, old, new))
    if all(place.old == place.new for place in places):
        raise ChangeError(0, "nothing is changed")
    return places


CELL_MARK = re.compile(r"^# *%%(.*)\n?", re.MULTILINE)
MARK_OPTION = re.compile(r'(\w+)=(?:"([^"]*)"|True)')


def marked_cells(text: str) -> list[tuple[int, dict[str, str], str]]:
    """Return the line, the options in the mark, and the source of each cell."""
    marks = list(CELL_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    cells = []
    for mark, end in zip(marks, ends, strict=True):
        line = text.count("\n", 0, mark.start()) + 1
        options = dict(MARK_OPTION.findall(mark[1]))
        cells.append((line, options, text[mark.end() : end].strip("\n")))
    return cells


def misconception_cell(exercise: str, answer: str) -> str:
    """Return an answer as a cell for answers.py; its name and explanation are left to the author.

    A line of the answer that would begin another cell is kept as a plain comment.
    """
    code = CELL_MARK.sub(lambda mark: mark[0].replace("#", "#:", 1), answer.strip("\n"))
    mark = f'# %% exercise="{exercise}" misconception="name_it"'
    return f'{mark}\n"""Say what is believed, and what JAX does."""\n{code}\n'


_EXPLANATION = re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL)


def split_explanation(source: str) -> tuple[str, str]:
    """Split a cell of answers.py into the text that it starts with and what comes after it."""
    explanation = _EXPLANATION.match(source)
    if explanation is None:
        return "", source
    text: str = ast.literal_eval(explanation[0])
    return " ".join(text.split()), source[explanation.end() :].strip("\n")
