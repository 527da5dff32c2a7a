"""Read an untrusted notebook and find the answers in it."""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytree_course.built import answer_id, check_id, other_answer_id
from pytree_course.course import CourseError
from pytree_course.grading.limits import ANSWER_CHARACTERS, NOTEBOOK_BYTES, NOTEBOOK_ENTRIES
from pytree_course.texts import defined_names

# Windows has neither, and no FIFOs in folders.
_NO_TRAP = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class UnreadableError(CourseError):
    """A file that was handed in cannot be read; the message tells a teacher why."""


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Read a regular file; an UnreadableError says why that cannot be done.

    A link may lead to somebody else's work, a FIFO waits for ever, a device may never end, and
    some do something when they are only opened.
    """
    try:
        _require_regular(file, os.lstat(file))
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | _NO_TRAP)) as opened:
            # It may have been replaced since.
            size = _require_regular(file, os.fstat(opened.fileno()))
            content = opened.read(most_bytes + 1) if size <= most_bytes else b""
    except FileNotFoundError:
        raise UnreadableError(f"{file} does not exist") from None
    except OSError as error:
        raise UnreadableError(
            f"{file} cannot be read ({error.strerror}): see that you have the right to read it"
        ) from error
    if max(size, len(content)) > most_bytes:
        raise UnreadableError(
            f"{file} is larger than {most_bytes / 1e6:g} MB: clear the outputs of its cells"
        )
    return content


def _require_regular(file: Path, status: os.stat_result) -> int:
    """Return a file's size; refuse what is no regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return status.st_size
    kinds = {stat.S_ISLNK: "a link", stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a FIFO"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device or a socket")
    raise UnreadableError(f"{file} is {kind}, and no file: hand in the notebook itself")


@dataclass(frozen=True)
class Submission:
    """What was handed in: the answers that differ from their starters, by exercise."""

    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # on answers that are found unusually


def read_submission(file: Path, starters: Mapping[str, str]) -> Submission:
    """Find the answers in the user's own notebook file, which may be a link."""
    return find_answers(read_notebook(file.resolve()), starters)


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a notebook as JSON; an UnreadableError says why that cannot be done."""
    content = read_regular(file, NOTEBOOK_BYTES)
    text = content.decode(json.detect_encoding(content), "replace")
    if not text.strip():
        raise UnreadableError(f"{file} is empty")
    if sum(map(text.count, ",[{")) > NOTEBOOK_ENTRIES:
        raise UnreadableError(
            f"{file} has more than {NOTEBOOK_ENTRIES:,} entries: clear the outputs of its cells"
        )
    try:
        # No number in it counts, and Python refuses to read those of thousands of digits.
        # What follows it is left of an older version, which a program did not write over.
        notebook, _ = json.JSONDecoder(parse_int=str).raw_decode(text.lstrip())
    except ValueError as error:
        causes = (why for sign, why in _NO_JSON.items() if re.search(sign, text))
        why = next(causes, f"it is cut off or damaged; hand in one that JupyterLab opens ({error})")
        raise UnreadableError(f"{file} is not a notebook: {why}") from error
    except RecursionError:
        raise UnreadableError(f"{file} is not a notebook: it is nested too deep") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UnreadableError(
            f"{file} is not a notebook: it has no cells. Save it in format 4.5 or later"
        )
    return notebook


_NO_JSON = {
    r"(?m)^<{7} ": "it holds Git's conflict marks (<<<<<<<): choose between the two versions that "
    "Git could not merge, and save it again",
    r"^\s*<(?i:!doctype|html)": "it is a web page: download the notebook itself",
}
"""By what a file's text shows: why it is no JSON, and what to do."""


@dataclass(frozen=True)
class _Cell:
    """A cell that may hold an answer."""

    type: str  # "code", "markdown" or "raw"
    source: str
    exercise: str  # whose answer cell it is, changed or not; "" if it is none

    @cached_property
    def names(self) -> set[str]:
        """The names that it defines."""
        return defined_names(self.source)


def known_lesson(
    notebook: dict[str, Any], handed_out: Mapping[str, Mapping[str, str]]
) -> str | None:
    """Return the lesson that a notebook, given as untrusted JSON, belongs to; None if unclear.

    The starters of its exercises were handed out with each lesson. The lesson is known by the marks
    of answer and check cells. Where a program has dropped them all, it is known by the names that
    cells define: a notebook of a lesson shows, or practises, a few of them too. The solutions,
    which lie in a clone of the course, are of none.
    """
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    marks = {mark for cell in cells for mark in _marks(cell)}
    names = defined_names("\n".join(map(_source, cells)))
    if any(
        other_answer_id(name, 1) in marks for starters in handed_out.values() for name in starters
    ):
        return None
    marked, defined = dict[str, int](), dict[str, int]()
    for lesson, starters in handed_out.items():
        marked[lesson] = sum(
            not marks.isdisjoint((answer_id(name), check_id(name))) for name in starters
        )
        count = sum(defined_names(starter) <= names for starter in starters.values())
        defined[lesson] = count if count >= _MIN_SHARE * len(starters) else 0
    for exercises in (marked, defined):
        next_most, most = sorted([0, 0, *exercises.values()])[-2:]
        if most > next_most:
            return max(exercises, key=exercises.__getitem__)
    return None


_MIN_SHARE = 1 / 4  # of a lesson's exercises; its own notebooks define a sixth at most


def find_answers(notebook: dict[str, Any], starters: Mapping[str, str]) -> Submission:
    """Find the answers in a notebook, given as untrusted JSON, by the starters of the exercises.

    What answers an exercise is its answer cell, or else the last cell that defines all of its
    names; a starter as it was handed out is no answer. Anything else in the notebook may be
    missing, moved, doubled or changed.
    """
    cells = list(_cells(notebook, starters))
    answers, notes = {}, {}
    for exercise, starter in starters.items():
        counting, note = _cells_that_count(exercise, starter, cells)
        answer = "\n".join(cell.source for cell in counting)
        if len(answer) > ANSWER_CHARACTERS:
            note = (
                f"the answer cell holds {len(answer):,} characters, more than the "
                f"{ANSWER_CHARACTERS:,} that may run"
            )
        elif counting:
            answers[exercise] = answer
        if note:
            notes[exercise] = note
    return Submission(answers, notes)


def _cells(notebook: dict[str, Any], starters: Mapping[str, str]) -> Iterator[_Cell]:
    """Yield the cells that may hold answers.

    A program that saves an older format drops the ids, as Colab does, which keeps them in the
    metadata, and the next one makes new ones; a copied cell gets a new one too. So an answer cell
    is known by the first of its marks that is one's, or by its starter.
    """
    exercises = {starter.strip(): exercise for exercise, starter in starters.items()}
    exercises |= {answer_id(exercise): exercise for exercise in starters}
    for cell in notebook["cells"]:
        if not isinstance(cell, dict):
            continue
        source = _source(cell)
        marks = (*_marks(cell), source.strip())
        exercise = next((exercises[mark] for mark in marks if mark in exercises), "")
        kind = str(cell.get("cell_type"))
        if kind == "code" or (exercise and kind in _TEXT_TYPES):
            yield _Cell(kind, source, exercise)


LATER_CELL = "the answer cell counts; a cell below that defines the names, too, does not"
_TEXT_TYPES = {"markdown": "is a Markdown cell", "raw": "is a raw cell"}
"""What an answer cell becomes when M or R is pressed by mistake."""


def _cells_that_count(
    exercise: str, starter: str, cells: Sequence[_Cell]
) -> tuple[list[_Cell], str]:
    """Return the cells that answer an exercise together, and a note if they are unusual ones."""
    names = defined_names(starter)
    own = [cell for cell in cells if cell.exercise == exercise]
    worked_in = [cell for cell in own if cell.source.strip() not in ("", starter.strip())]
    counting = _parts_in_force([cell for cell in worked_in if cell.type == "code"], names)
    if not names <= set[str]().union(*(cell.names for cell in counting)):
        code = [cell for cell in cells if cell.type == "code" and cell.exercise != exercise]
        if others := [cell for cell in code if names <= cell.names]:
            why = "is as it was handed out" if own else "is not in the notebook"
            if own and not own[-1].source.strip():
                why = "is empty"
            if worked_in:
                why = _TEXT_TYPES.get(worked_in[-1].type, "lacks a definition")
            return others[-1:], f"the answer cell {why}; another cell that defines the names counts"
    if worked_in and not counting:
        note = f"the answer cell {_TEXT_TYPES[worked_in[-1].type]}; it counts as code"
        return worked_in[-1:], note
    if not own:
        return [], "the answer cell is not in the notebook"
    if len(own) > 1:
        which = "the last one counts" if len(counting) < 2 else f"the last {len(counting)} count"
        return counting, f"the answer cell is there {len(own)} times; {which}"
    later = cells[cells.index(own[-1]) + 1 :]
    if any(names <= cell.names for cell in later if not cell.exercise):
        return counting, LATER_CELL
    return counting, ""


def _parts_in_force(cells: list[_Cell], names: set[str]) -> list[_Cell]:
    """Return those of an exercise's cells that make up its answer, in order.

    The last cell that defines all names of the starter is a whole answer, and what comes before it
    earlier tries. Cells that define them only together, or none of them, are one that was split.
    """
    parts: list[_Cell] = []
    missing = set(names)
    for cell in reversed(cells):
        if parts and not missing and names <= cell.names:
            break
        parts.append(cell)
        missing -= cell.names
    return parts[::-1]


def _marks(cell: dict[str, Any]) -> Iterator[str]:
    """Yield what names a cell: its id, Colab's, nbgrader's."""
    for path in (("id",), ("metadata", "id"), ("metadata", "nbgrader", "grade_id")):
        value: object = cell
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str):
            yield value


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    # A lone surrogate is valid in JSON, but has no UTF-8 encoding.
    return text.encode("utf-8", "replace").decode("utf-8")
