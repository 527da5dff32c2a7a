"""Read a learner's notebook, whatever became of it, and take the answers out."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytree_course.built import stamp_of
from pytree_course.course import CourseError, answer_id

MAX_BYTES = 100_000_000


class UnreadableError(CourseError):
    """The submission is no notebook; the message says why, in words for a teacher."""


@dataclass(frozen=True)
class Submission:
    """The answers found in a submitted notebook.

    Attributes
    ----------
    answers
        Source of each answer cell that somebody worked in, by exercise.
    notes
        What was odd about an answer cell, by exercise.
    release
        The stamp of the release that the notebook was handed out with, if it has one.
    has_answer_cells
        Whether any answer cell is in it, worked in or not.
    """

    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    release: str | None = None
    has_answer_cells: bool = True


def read_submission(file: Path, starters: dict[str, str]) -> Submission:
    """Take the answers out of a learner's notebook file; see `read_notebook`, `find_answers`."""
    return find_answers(read_notebook(file), starters)


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a learner's notebook as JSON.

    Parameters
    ----------
    file
        The notebook.

    Raises
    ------
    UnreadableError
        When the file cannot be read as a notebook at all.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UnreadableError(f"{file} is larger than {MAX_BYTES // 1_000_000} MB")
        text = file.read_text(encoding="utf-8", errors="replace")
        if not text.strip():
            raise UnreadableError(f"{file} is empty")
        notebook = json.loads(text)
    except FileNotFoundError:
        raise UnreadableError(f"{file} does not exist") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableError(f"{file} is not a notebook: {error}") from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UnreadableError(f"{file} has no cells: save it as a notebook of format 4.5 or later")
    return notebook


def find_answers(notebook: dict[str, Any], starters: dict[str, str]) -> Submission:
    """Take the answers out of a learner's notebook.

    Only answer cells count, matched by cell id; anything else in the notebook may be missing,
    moved, doubled or changed. A program that saves an older format drops the ids, and the next one
    makes new ones: where none is left, nbgrader's names of the cells are used.

    Parameters
    ----------
    notebook
        The notebook, as JSON that nobody vouches for.
    starters
        Source of each answer cell as it was handed out, by exercise.
    """
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    wanted = {answer_id(exercise) for exercise in starters}
    name = _id if any(_id(cell) in wanted for cell in cells) else _nbgraders_id
    answers, notes = {}, {}
    has_answer_cells = False
    for exercise, starter in starters.items():
        found = [
            _source(cell)
            for cell in cells
            if name(cell) == answer_id(exercise) and cell.get("cell_type") == "code"
        ]
        worked_in = [source for source in found if source.strip() != starter.strip()]
        if not found:
            notes[exercise] = "its answer cell is not in the notebook"
            continue
        has_answer_cells = True
        # Of several copies the last one counts: it is what running the notebook leaves in force.
        if worked_in:
            answers[exercise] = worked_in[-1]
        if len(found) > 1:
            notes[exercise] = f"its answer cell is there {len(found)} times; the last one counts"
    return Submission(answers, notes, stamp_of(notebook), has_answer_cells)


def _id(cell: dict[str, Any]) -> str | None:
    found = cell.get("id")
    return found if isinstance(found, str) else None


def _nbgraders_id(cell: dict[str, Any]) -> str | None:
    try:
        found = cell["metadata"]["nbgrader"]["grade_id"]
    except (KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))
