"""Equal wrong results that no misconception explains, each with a cell for answers.py."""

from collections import defaultdict
from dataclasses import dataclass

from pytree_course.class_grading.attempt import Attempt, VerdictRow
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.reports.class_statistics import by_exercise
from pytree_course.sources.marked_cells import misconception_cell


@dataclass(frozen=True)
class Cluster:
    """Students with equal wrong results that no misconception explains."""

    lesson: str
    exercise: str
    students: list[Student]
    sample: VerdictRow  # the verdict on the shortest answer
    attempt: Attempt  # with that answer
    code: str  # the answer: it is a student's, so read it before it is run

    @property
    def cell(self) -> str:
        """The answer as a cell of answers.py, in which a name and an explanation are missing."""
        return misconception_cell(self.exercise, self.code)


def find_clusters(grades: ClassGrades, fewest: int = 2) -> list[Cluster]:
    """Find equal wrong results of `fewest` students or more that no misconception explains.

    Those of most students come first. Results can be compared only where they come from the same
    cases, that is, from one seed.
    """
    clusters = []
    for lesson, exercise, verdicts in by_exercise(grades):
        alike = defaultdict(list)
        for student, attempt, row in verdicts:
            if row.results is not None and not row.misconceptions:
                answer = attempt.answers.get(exercise, "")
                alike[attempt.seed, row.results].append((student, attempt, row, answer))
        for members in alike.values():
            if len(members) >= fewest:
                students = [student for student, *_ in members]
                _, attempt, row, code = min(members, key=lambda member: len(member[-1]))
                clusters.append(Cluster(lesson.lesson, exercise, students, row, attempt, code))
    return sorted(clusters, key=lambda each: -len(each.students))
