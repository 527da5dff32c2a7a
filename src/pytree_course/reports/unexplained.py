"""What `explain` prints: the wrong results of a class that no misconception explains."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pytree_course.authoring.authors_answers import run_answer
from pytree_course.authoring.sources import LessonSources, read_sources
from pytree_course.checking.finding_words import sentences
from pytree_course.checking.words import line_wrong
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.classroom.folder import ClassFolder
from pytree_course.classroom.gradebook import Gradebook
from pytree_course.course import Course
from pytree_course.printable import printable_lines
from pytree_course.rendering import render
from pytree_course.reports.clusters import Cluster, find_clusters
from pytree_course.texts import counted

MOST_CASES = 5  # that are shown of an answer
READ_FIRST = (
    "To explain one: put its cell into the lesson's answers.py, name it, say what is believed, and "
    "build. Read the code first: it is a student's, and the build runs it outside of the sandbox."
)


@dataclass(frozen=True)
class TellingCase:
    """A case that tells a wrong answer from the right one."""

    number: int  # from 1
    inputs: list[str]  # as Python writes them
    note: str


@dataclass(frozen=True)
class Unexplained:
    """Equal wrong results that no misconception explains."""

    lesson: str
    exercise: str
    students: list[str]
    verdict: str
    reasons: list[str]  # general ones; of a prediction, what is wrong with the line
    telling: list[TellingCase] | None  # None where the exercise has changed since
    cell: str  # for the lesson's answers.py


def find_unexplained(course: Course, file: Path) -> list[Unexplained]:
    """Find what a gradebook holds unexplained, that of most students first.

    The author's own answers are run for the inputs of the cases; a student's never are.
    """
    with Gradebook(file) as gradebook:
        nothing_more = ClassFolder(file.parent, [], [], [])
        grades = ClassGrades.of(course, nothing_more, gradebook, None, None)
    sources: dict[str, LessonSources] = {}
    found = []
    for cluster in find_clusters(grades, fewest=1):
        if cluster.lesson not in sources:
            sources[cluster.lesson] = read_sources(course.lesson(cluster.lesson))
        found.append(_unexplained(cluster, sources[cluster.lesson]))
    return found


def _unexplained(cluster: Cluster, sources: LessonSources) -> Unexplained:
    row = cluster.sample
    of_line = [f"Line {line.name}: {line.said}. {line_wrong(line)}" for line in row.lines]
    return Unexplained(
        lesson=cluster.lesson,
        exercise=cluster.exercise,
        students=[student.label for student in cluster.students],
        verdict=row.kind,
        reasons=of_line or sentences(row.findings) or [row.explanation],
        telling=_telling(cluster, sources),
        cell=cluster.cell,
    )


def _telling(cluster: Cluster, sources: LessonSources) -> list[TellingCase] | None:
    exercise = sources.exercises.get(cluster.exercise)
    if exercise is None or cluster.attempt.checks != sources.exercises_digest:
        return None
    right = run_answer(sources, exercise, exercise.solution, cluster.attempt.seed).outcomes
    return [
        TellingCase(case + 1, right[case].written, right[case].note)
        for case in cluster.sample.failed
        if case < len(right)
    ]


def show_unexplained(found: Sequence[Unexplained], console: Console) -> None:
    """Print what is unexplained, each with its cell and the cases that tell it apart."""
    if not found:
        console.print("Misconceptions explain every wrong result in this gradebook.")
        return
    students = len({student for each in found for student in each.students})
    console.print(
        f"{counted(len(found), 'wrong result', 'wrong results')} of "
        f"{counted(students, 'student', 'students')} without a misconception."
    )
    console.print(READ_FIRST)
    for number, each in enumerate(found, 1):
        who = counted(len(each.students), "student", "students")
        heading = f"{number}. {each.exercise} · {who} · {each.verdict}"
        console.print(Text(f"\n{heading}", style="bold"))
        console.print(Text(render("reports/unexplained.txt", each=each, most=MOST_CASES)))
        console.print(Text(f"\n{printable_lines(each.cell)}"), soft_wrap=True, end="")


def unexplained_as_json(found: Sequence[Unexplained]) -> str:
    """Return what is unexplained as JSON text."""
    return json.dumps([asdict(each) for each in found], indent=2)
