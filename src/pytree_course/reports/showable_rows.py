"""What of a stored verdict can be shown: details of an unknown form, or too many, are left out.

A gradebook keeps what a student's code made of itself. What is written from it relies on the form
of each detail; so it is looked at here once, for all tables and pages.
"""

from dataclasses import replace
from typing import Any

from pytree_course.checking.untrusted import validate
from pytree_course.classroom.attempt import Attempt, VerdictRow
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.texts import truncate

MOST_INPUTS = 10  # of a case
MOST_LINES = 40  # that were predicted wrongly
MOST_REASONS = 20
MOST_MISCONCEPTIONS = 20
LONGEST_EXPLANATION = 1_500  # of a verdict without its details
LONGEST_WRITTEN = 400  # of an input as Python writes it
LONGEST_IN_LINE = 1_000
CANNOT_BE_SHOWN = "The details cannot be shown: they are not of a form that the course knows."

_LINE = ("name", "text", "said", "wrong", "misconception")


def showable(grades: ClassGrades) -> ClassGrades:
    """Return the grades of a class with only such details as can be shown."""
    counting = {key: _attempt(attempt) for key, attempt in grades.counting.items()}
    return replace(grades, counting=counting)


def without_details(row: VerdictRow) -> VerdictRow:
    """Return a verdict that says no more than what it is, and that there is more."""
    return replace(
        row,
        explanation=f"{truncate(row.explanation, LONGEST_EXPLANATION)} {CANNOT_BE_SHOWN}",
        misconceptions=[],
        reasons=[],
        lines=[],
        failed=[],
        failure=None,
        results=None,
    )


def _attempt(attempt: Attempt) -> Attempt:
    answers = {name: code for name, code in attempt.answers.items() if isinstance(code, str)}
    return replace(attempt, answers=answers, rows=[_row(row) for row in attempt.rows])


def _row(row: VerdictRow) -> VerdictRow:
    try:
        _require(_are(str, row.misconceptions) and _are(str, row.reasons))
        _require(_are(int, row.failed) and min(row.failed, default=0) >= 0)
        _require(isinstance(row.lines, list) and all(map(_is_line, row.lines)))
        _require(not row.lines or len(row.lines) == len(row.failed))
        failure = None if row.failure is None else _failure(row.failure)
    except (ValueError, RecursionError):
        return without_details(row)
    return replace(
        row,
        failure=failure,
        misconceptions=row.misconceptions[:MOST_MISCONCEPTIONS],
        reasons=row.reasons[:MOST_REASONS],
        lines=[
            {name: truncate(line[name], LONGEST_IN_LINE) for name in _LINE}
            for line in row.lines[:MOST_LINES]
        ],
        failed=row.failed[:MOST_LINES] if row.lines else row.failed,
    )


def _failure(failure: Any) -> dict[str, Any]:
    """Return a failure with a few of its inputs, and with how many more there are."""
    _require(isinstance(failure, dict))
    inputs, written = failure.get("inputs"), failure.get("written")
    _require(isinstance(inputs, list) and _are(str, written) and len(inputs) == len(written))
    _require(all(isinstance(failure.get(name), str) for name in ("printed", "note")))
    line = failure.get("line")
    _require(line is None or (isinstance(line, dict) and _has(line, number=int, text=str)))
    return failure | {
        "inputs": [validate(each) for each in inputs[:MOST_INPUTS]],
        "written": [truncate(text, LONGEST_WRITTEN) for text in written[:MOST_INPUTS]],
        "got": validate(failure.get("got")),
        "more": max(0, len(inputs) - MOST_INPUTS),
    }


def _is_line(line: object) -> bool:
    return isinstance(line, dict) and _has(line, **dict.fromkeys(_LINE, str))


def _has(entries: dict[str, Any], **kinds: type) -> bool:
    return all(isinstance(entries.get(name), kind) for name, kind in kinds.items())


def _are(kind: type, items: object) -> bool:
    return isinstance(items, list) and all(isinstance(item, kind) for item in items)


def _require(is_so: bool) -> None:
    if not is_so:
        raise ValueError("not of a known form")
