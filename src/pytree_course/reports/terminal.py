"""What grading prints: one notebook's grade, and a class's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from pytree_course.checking.feedback import LOOKS, feedback
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.checking.words import explanation
from pytree_course.classroom.class_grades import NOT_HANDED_IN, NOT_YET_GRADED, ClassGrades
from pytree_course.classroom.class_grading import ShowProgress, Summary
from pytree_course.grading.grade import Grade

_STYLES = {
    VerdictKind.CORRECT: "green",
    VerdictKind.NOT_ATTEMPTED: "dim",
    VerdictKind.INCORRECT: "yellow",
}


def show_grade(grade: Grade, console: Console) -> None:
    """Print a table of the exercises, and below it the feedback on wrong answers."""
    console.print(Text(grade.title, style="bold"))
    console.print(Text(str(grade.notebook)), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Exercise", no_wrap=True)
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Feedback", ratio=1)
    for verdict in grade.verdicts:
        look = LOOKS[verdict.kind]
        table.add_row(
            Text(verdict.exercise),
            f"{verdict.points}/{verdict.exercise_points}",
            Text(f"{look.symbol} {look.word}", style=_STYLES.get(verdict.kind, "red")),
            Text(explanation(verdict, grade.notes)),
        )
    console.print(table)
    for verdict in grade.verdicts:
        if verdict.failure is not None:
            console.print(Text(feedback(verdict).text), end="\n\n")
    which = "the public cases" if grade.seed == PUBLIC_SEED else "fresh cases"
    correct = sum(verdict.kind is VerdictKind.CORRECT for verdict in grade.verdicts)
    console.print(
        f"{grade.points} of {grade.all_points} points, "
        f"{correct} of {len(grade.verdicts)} exercises correct, on {which}."
    )


def grade_as_json(grade: Grade) -> str:
    """Return a grade as JSON text."""
    exercises = [
        {
            "exercise": verdict.exercise,
            "verdict": str(verdict.kind),
            "points": verdict.points,
            "exercise_points": verdict.exercise_points,
            "cases_passed": verdict.passed,
            "cases": verdict.cases,
            "misconceptions": [misconception.name for misconception in verdict.misconceptions],
            "feedback": explanation(verdict, grade.notes),
        }
        for verdict in grade.verdicts
    ]
    data = {
        "lesson": grade.lesson,
        "notebook": str(grade.notebook),
        "seed": grade.seed,
        "points": grade.points,
        "all_points": grade.all_points,
        "all_correct": grade.all_correct,
        "exercises": exercises,
    }
    return json.dumps(data, indent=2)  # in ASCII: right in every terminal and pipe


@contextmanager
def grading_progress(console: Console) -> Iterator[ShowProgress]:
    """Show a progress bar."""
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        *(TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("preparing", total=None, rate="")

        def update(done: int, of: int) -> None:
            # Not rich's own speed: results that come together would make it endless.
            elapsed = bar.tasks[task].elapsed
            rate = f"{60 * done / elapsed:.0f} a minute" if done and elapsed else ""
            bar.update(task, description="grading", completed=done, total=of, rate=rate)

        yield update


def show_class(summary: Summary, grades: ClassGrades, into: Path, console: Console) -> None:
    """Print a table of the students, what has changed, and what could not be graded."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Student")
    for lesson in grades.lessons:
        table.add_column(f"{lesson.lesson} of {lesson.points}", justify="right")
    table.add_column("Note")
    for student in grades.students:
        notes = [] if student.is_expected else ["not on the list of the class"]
        cells = []
        for lesson in grades.lessons:
            attempt = grades.attempt(student, lesson)
            if attempt is None:
                cells.append("–")
                continue
            cells.append(str(attempt.points))
            if attempt.reason:
                notes.append(f"{lesson.lesson}, {attempt.state}: {attempt.reason}")
            if late := grades.late_by(attempt):
                notes.append(f"{lesson.lesson}: late by {str(late).split('.')[0]}")
        if all(cell == "–" for cell in cells):
            is_waiting = any(student.id == waiting for waiting, _ in grades.waiting)
            notes.append(NOT_YET_GRADED if is_waiting else NOT_HANDED_IN)
        table.add_row(Text(student.label), *cells, Text("; ".join(notes)))
    console.print(table)
    if summary.changes:
        changes = Table("Student", "Lesson", "Exercise", "Before", "Now", "Why", title="Changed")
        for change in summary.changes:
            changes.add_row(*map(Text, astuple(change)))
        console.print(changes)
    console.print(
        f"{summary.graded} graded, {summary.unchanged} had not changed, "
        f"{len(summary.failed)} could not be graded."
    )
    for notebook, reason in summary.failed:
        console.print(Text(f"{notebook.file}: {reason} It will be tried again next time."))
    console.print(Text(f"The class report: {into / 'report.html'}"))
