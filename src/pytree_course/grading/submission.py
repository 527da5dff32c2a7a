"""Find in an untrusted notebook the lesson that it belongs to, and the answers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytree_course.built import OUR_ENDING, answer_id, check_id, other_answer_id
from pytree_course.grading.limits import ANSWER_CHARACTERS
from pytree_course.grading.notebook_file import (
    UnreadableError,
    marks_of,
    read_notebook,
    source_of,
    string_at,
)
from pytree_course.texts import defined_names

_TEXT_TYPES = {"markdown": "is a Markdown cell", "raw": "is a raw cell"}
"""The types that an answer cell has after M or R was pressed by mistake."""
_PYTHON_VERSION = re.compile(r"[0-9]{1,2}\.[0-9]{1,3}(?![0-9])")
_MIN_SHARE = 1 / 4  # of a lesson's exercises; its own notebooks define a sixth at most

LATER_CELL = "the answer cell counts; a cell below that defines the names, too, does not"


class NoExercisesError(UnreadableError):
    """A notebook can be read, and is no exercise notebook."""


@dataclass(frozen=True)
class Submission:
    """The answers in a notebook that differ from their starters, by exercise."""

    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # on unusual answer cells
    python: str = ""  # that the notebook was made with, such as "3.13"; "" if unknown


Starters = Mapping[str, str]
"""The starters that were handed out with a lesson, by exercise."""


def read_submission(file: Path, starters: Starters) -> Submission:
    """Read the answers in the user's own notebook; its file may be a link."""
    return find_answers(read_notebook(file.resolve()), starters)


def read_submission_of_any_lesson(
    file: Path, handed_out: Mapping[str, Starters]
) -> tuple[str, Submission]:
    """Return the lesson of a student's file, and the answers in the file."""
    notebook = read_notebook(file)
    lesson, why_none = recognize_lesson(notebook, handed_out)
    if why_none:
        raise NoExercisesError(file, why_none)
    return lesson, find_answers(notebook, handed_out[lesson])


def recognize_lesson(
    notebook: dict[str, Any], handed_out: Mapping[str, Starters]
) -> tuple[str, str]:
    """Return the lesson that a notebook, given as untrusted JSON, belongs to, and "".

    If there is none, as for a lesson's own notebook and its solutions, return "", and what the
    notebook is instead, as a clause on it.
    """
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    marks = {mark for cell in cells for mark in marks_of(cell)}
    sources = "\n".join(map(source_of, cells))
    for lesson, starters in handed_out.items():
        if any(other_answer_id(exercise, 1) in marks for exercise in starters):
            return "", f"is a copy of the course's solutions for {lesson}"
    if lesson := _lesson_of(marks, defined_names(sources), handed_out):
        return lesson, ""
    for lesson in handed_out:
        if f'Checks("{lesson}")' in sources and any(mark.endswith(OUR_ENDING) for mark in marks):
            return "", f"is the lesson itself, not its exercises: hand in {lesson}_exercises.ipynb"
    return "", "is a notebook without answer cells of this course"


def _lesson_of(marks: set[str], names: set[str], handed_out: Mapping[str, Starters]) -> str:
    """Return the lesson with the most exercises among a notebook's marks and names; "" if none.

    The names count if a program has dropped all marks. The lesson's own notebooks define a few of
    these names, too.
    """
    marked_exercises: dict[str, int] = {}  # how many, by lesson
    defined_exercises: dict[str, int] = {}
    for lesson, starters in handed_out.items():
        ids = [{answer_id(exercise), check_id(exercise)} for exercise in starters]
        marked_exercises[lesson] = sum(not marks.isdisjoint(pair) for pair in ids)
        count = sum(defined_names(starter) <= names for starter in starters.values())
        if count >= _MIN_SHARE * len(starters):
            defined_exercises[lesson] = count
    return _with_most(marked_exercises) or _with_most(defined_exercises)


def _with_most(exercises: Mapping[str, int]) -> str:
    """Return the lesson with the most exercises; "" if there is a tie, or no exercise."""
    most = max(exercises.values(), default=0)
    lessons = [lesson for lesson, count in exercises.items() if count == most]
    return lessons[0] if most > 0 and len(lessons) == 1 else ""


@dataclass(frozen=True)
class _Cell:
    """A cell that may hold an answer."""

    type: str  # "code", "markdown" or "raw"
    source: str
    exercise: str  # the exercise whose answer cell it is, changed or not; "" if of none

    @cached_property
    def names(self) -> set[str]:
        """The names that it defines."""
        return defined_names(self.source)


def find_answers(notebook: dict[str, Any], starters: Starters) -> Submission:
    """Find the answers in a notebook, given as untrusted JSON, by the starters of the exercises.

    The answer to an exercise is its answer cell or, failing that, the last cell that defines all
    of its names; an unchanged starter is no answer. Everything else in the notebook may be missing,
    moved, duplicated or changed.
    """
    cells = list(_find_cells(notebook, starters))
    answers, notes = {}, {}
    for exercise, starter in starters.items():
        counting, note = _counting_cells(exercise, starter, cells)
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
    return Submission(answers, notes, _python_version(notebook))


def _python_version(notebook: dict[str, Any]) -> str:
    """Return the version of Python that a notebook names, without the last part."""
    version = _PYTHON_VERSION.match(string_at(notebook, "metadata", "language_info", "version"))
    return version[0] if version else ""


def _find_cells(notebook: dict[str, Any], starters: Starters) -> Iterator[_Cell]:
    """Yield the cells that may hold answers.

    A cell may have lost its id: a program that saves an older format drops ids (Colab keeps them in
    the metadata) and the next one makes new ones, and a copied cell gets a new one. So an answer
    cell is known by the first of its marks that belongs to an exercise, or by its starter.
    """
    exercises = {starter.strip(): exercise for exercise, starter in starters.items()}
    for exercise in starters:
        exercises[answer_id(exercise)] = exercise
    for cell in notebook["cells"]:
        if not isinstance(cell, dict):
            continue
        source = source_of(cell)
        marks = (*marks_of(cell), source.strip())
        exercise = next((exercises[mark] for mark in marks if mark in exercises), "")
        cell_type = str(cell.get("cell_type"))
        if cell_type == "code" or (exercise and cell_type in _TEXT_TYPES):
            yield _Cell(cell_type, source, exercise)


def _counting_cells(exercise: str, starter: str, cells: Sequence[_Cell]) -> tuple[list[_Cell], str]:
    """Return the cells that make up the answer to an exercise, and a note if they are unusual.

    Usually that is the one answer cell. It may be doubled or split; if it does not define all names
    of the starter, another cell that does counts instead; if it is a text cell, it counts as code.
    """
    names = defined_names(starter)
    answer_cells = [cell for cell in cells if cell.exercise == exercise]
    changed = [cell for cell in answer_cells if cell.source.strip() not in ("", starter.strip())]
    code = [cell for cell in changed if cell.type == "code"]
    counting = _last_try(code, names)
    others = [cell for cell in cells if cell.type == "code" and cell.exercise != exercise]
    defining = [cell for cell in others if names <= cell.names]
    if defining and not _define_all(counting, names):
        why = _why_another_counts(answer_cells, changed)
        note = f"the answer cell {why}; another cell that defines the names counts"
        return defining[-1:], note
    if changed and not code:
        note = f"the answer cell {_TEXT_TYPES[changed[-1].type]}; it counts as code"
        return changed[-1:], note
    return counting, _note_on_answer_cells(answer_cells, counting, cells, names)


def _define_all(cells: Iterable[_Cell], names: set[str]) -> bool:
    """Return whether cells together define all of these names."""
    return names <= {name for cell in cells for name in cell.names}


def _note_on_answer_cells(
    answer_cells: Sequence[_Cell],
    counting: Sequence[_Cell],
    cells: Sequence[_Cell],
    names: set[str],
) -> str:
    """Return what is unusual about the answer cells, some of which count; "" if nothing is."""
    if not answer_cells:
        return "the answer cell is not in the notebook"
    if len(answer_cells) > 1:
        choice = "the last changed one counts"
        if len(counting) > 1:
            choice = f"the last {len(counting)} changed ones count"
        return f"the answer cell is there {len(answer_cells)} times; {choice}"
    later = cells[cells.index(answer_cells[0]) + 1 :]
    if any(names <= cell.names for cell in later if not cell.exercise):
        return LATER_CELL
    return ""


def _why_another_counts(answer_cells: Sequence[_Cell], changed: Sequence[_Cell]) -> str:
    if changed:
        return _TEXT_TYPES.get(changed[-1].type, "lacks a definition")
    if not answer_cells:
        return "is not in the notebook"
    if not answer_cells[-1].source.strip():
        return "is empty"
    return "is as it was handed out"


def _last_try(cells: Sequence[_Cell], names: set[str]) -> list[_Cell]:
    """Return those of an exercise's answer cells that make up its answer, in order.

    If there are several, the cell was split, or copied for another try: one that defines all names,
    above others that do so together, is an earlier try.
    """
    last_try: list[_Cell] = []
    for cell in reversed(cells):
        if last_try and names <= cell.names and _define_all(last_try, names):
            break
        last_try.append(cell)
    return last_try[::-1]
