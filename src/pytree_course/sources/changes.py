"""The notation of answers.py: marked cells, explanations, and answers as changes of another.

A change looks like the body of a diff, without line numbers. Lines that begin with `-` are replaced
by lines with `+`; lines with a blank are unchanged, and say where the change belongs. A line `...`
stands for any lines between two places.
"""

import ast
import re
from dataclasses import dataclass
from itertools import groupby

GAP = "..."
"""The line between two places of a change."""


class ChangeError(ValueError):
    """A change does not fit the answer that it changes."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line  # the index of the line of the change that is at fault


@dataclass(frozen=True)
class _Place:
    line: int  # the index of its first line in the change
    old: list[str]
    new: list[str]


def apply_change(source: str, change: str) -> str:
    """Return an answer's code with a change applied.

    Raise ChangeError if a line of the change has no sign, or the lines that it replaces do not
    occur exactly once in the code below the previous place.
    """
    lines = source.splitlines()
    result: list[str] = []
    for place in _parse_places(change):
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


def _parse_places(change: str) -> list[_Place]:
    numbered = list(enumerate(change.splitlines()))
    places = []
    for is_gap, group in groupby(numbered, lambda line: line[1] == GAP):
        if is_gap:
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


def split_cells(text: str) -> list[tuple[int, dict[str, str], str]]:
    """Return each cell's line, the options in its mark, and its source."""
    marks = list(CELL_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    cells = []
    for mark, end in zip(marks, ends, strict=True):
        line = text.count("\n", 0, mark.start()) + 1
        options = dict(MARK_OPTION.findall(mark[1]))
        cells.append((line, options, text[mark.end() : end].strip("\n")))
    return cells


def misconception_cell(exercise: str, answer: str) -> str:
    """Return a wrong answer as a cell for answers.py; the author adds its name and explanation.

    A line of the answer that would begin another cell becomes a plain comment.
    """
    code = CELL_MARK.sub(lambda mark: mark[0].replace("#", "#:", 1), answer.strip("\n"))
    mark = f'# %% exercise="{exercise}" misconception="name_it"'
    return f'{mark}\n"""Say what is believed, and what JAX does."""\n{code}\n'


_EXPLANATION = re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL)


def split_explanation(source: str) -> tuple[str, str]:
    """Split a cell of answers.py into its explanation, "" if it has none, and its code."""
    explanation = _EXPLANATION.match(source)
    if explanation is None:
        return "", source
    text: str = ast.literal_eval(explanation[0])
    return " ".join(text.split()), source[explanation.end() :].strip("\n")
