"""Read the notebook that was handed in, untrusted and possibly broken, and find its answers."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytree_course.built import stamp_of
from pytree_course.course import CourseError, answer_id
from pytree_course.grading.limits import NOTEBOOK_BYTES


class UnreadableError(CourseError):
    """The submission is no notebook; the message says why, in words for a teacher."""


@dataclass(frozen=True)
class Submission:
    """What was handed in: by exercise the answers that differ from their starters."""

    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # what was odd about an answer cell
    release: str | None = None  # the stamp of the bundle that the notebook comes from
    has_answer_cells: bool = True  # changed or not


def read_submission(file: Path, starters: dict[str, str]) -> Submission:
    """Find the answers in a notebook file."""
    return find_answers(read_notebook(file), starters)


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a notebook as JSON; an UnreadableError says why that cannot be done."""
    try:
        if file.stat().st_size > NOTEBOOK_BYTES:
            raise UnreadableError(f"{file} is larger than {NOTEBOOK_BYTES // 1_000_000} MB")
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
    """Find the answers in a notebook, given as untrusted JSON, by the starters of the exercises.

    Only answer cells count, matched by cell id; anything else in the notebook may be missing,
    moved, doubled or changed. A program that saves an older format drops the ids, as Colab does,
    which keeps them in the metadata, and the next one makes new ones: where none is left,
    nbgrader's names of the cells are used.
    """
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    wanted = [answer_id(exercise) for exercise in starters]
    paths = (("id",), ("metadata", "id"), ("metadata", "nbgrader", "grade_id"))
    path = next((each for each in paths if any(_at(cell, each) in wanted for cell in cells)), ())
    answers, notes = {}, {}
    has_answer_cells = False
    for exercise, starter in starters.items():
        found = [
            _source(cell)
            for cell in cells
            if _at(cell, path) == answer_id(exercise) and cell.get("cell_type") == "code"
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


def _at(cell: Any, path: tuple[str, ...]) -> object:
    """Return what is below these names in untrusted JSON, or None."""
    for name in path:
        cell = cell.get(name) if isinstance(cell, dict) else None
    return cell


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))
