"""Equal wrong results that no misconception explains, each with a cell for answers.py."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pytree_course.authoring.marked_cells import misconception_cell
from pytree_course.checking.expected import ExpectedExercise
from pytree_course.checking.verdicts import WrongLine
from pytree_course.classroom.attempt import Attempt, VerdictRow
from pytree_course.classroom.class_grades import ClassGrades, Student
from pytree_course.reports.class_statistics import by_exercise

_WITHOUT_BELIEF = ("too high", "too low", "not this")
"""Why a prediction is wrong that no misconception leads to."""
_SAID = re.compile(r"-?\d+|'[^'\\…]*'")
"""A prediction that is stored whole."""


@dataclass(frozen=True)
class Cluster:
    """Students with equal wrong results that no misconception explains.

    Where lines are predicted, the results of one line are compared.
    """

    lesson: str
    exercise: str
    students: list[Student]
    sample: VerdictRow  # the verdict on the shortest answer, or on one line
    attempt: Attempt  # with that answer
    code: str  # the answer: it is a student's, so read it before it is run

    @property
    def cell(self) -> str:
        """The answer as a cell of answers.py, in which a name and an explanation are missing."""
        return misconception_cell(self.exercise, self.code)


def find_clusters(grades: ClassGrades, fewest: int = 2) -> list[Cluster]:
    """Find equal wrong results of `fewest` students or more that no misconception explains.

    Those of most students come first. Results can be compared only where they come from the same
    cases, that is, from one seed; lines that are predicted are the same for every seed.
    """
    clusters = []
    for lesson, exercise, verdicts in by_exercise(grades):
        alike = defaultdict(list)
        for student, attempt, verdict in verdicts:
            known = lesson.exercises.get(exercise)
            for result, row, code in _unexplained(known, attempt, verdict):
                alike[result].append((student, attempt, row, code))
        for members in alike.values():
            if len(members) >= fewest:
                students = [student for student, *_ in members]
                _, attempt, row, code = min(members, key=lambda member: len(member[-1]))
                clusters.append(Cluster(lesson.lesson, exercise, students, row, attempt, code))
    return sorted(clusters, key=lambda each: -len(each.students))


def _unexplained(
    exercise: ExpectedExercise | None, attempt: Attempt, row: VerdictRow
) -> Iterator[tuple[Any, VerdictRow, str]]:
    """Yield of a verdict each unexplained result, the row about it, and the code that yields it."""
    if exercise is not None and exercise.lines:
        for case, line in zip(row.failed, row.lines, strict=False) if row.lines else ():
            said = _SAID.fullmatch(line.said)
            if said and not line.misconception and line.why in _WITHOUT_BELIEF:
                about_line = replace(row, lines=[line], failed=[case])
                with suppress(ValueError, SyntaxError):  # not all that looks like a number is one
                    code = _with_line(exercise, line)
                    yield (line.name, line.said), about_line, code
    elif row.results is not None and not row.misconceptions:
        yield (attempt.seed, row.results), row, attempt.answers.get(row.exercise, "")


def _with_line(exercise: ExpectedExercise, line: WrongLine) -> str:
    """Return the right predictions, but the student's for one line."""
    right = (observation["value"] for observation in exercise.observations)
    predictions = dict(zip(exercise.lines, right, strict=True))
    predictions[line.name] = ast.literal_eval(line.said)
    return f"{exercise.answers[0]} = {predictions}"
