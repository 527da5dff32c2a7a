"""What grading prints: one notebook's grade, and a class's."""

from collections.abc import Iterator
from contextlib import contextmanager
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
from pytree_course.checking.reported import PUBLIC_SEED
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.checking.words import explanation, remarks
from pytree_course.classroom.attempt import AttemptState
from pytree_course.classroom.class_grades import (
    NOT_HANDED_IN,
    NOT_YET_GRADED,
    ClassGrades,
    Student,
)
from pytree_course.classroom.class_grading import ShowProgress, Summary
from pytree_course.grading.grade import Grade
from pytree_course.printable import printable, printable_lines
from pytree_course.reports.class_statistics import not_graded
from pytree_course.texts import shorten

LONGEST_NAME = 120
LONGEST_REASON = 600

_STYLES = {
    VerdictKind.CORRECT: "green",
    VerdictKind.NOT_ATTEMPTED: "dim",
    VerdictKind.INCORRECT: "yellow",
}


def show_grade(grade: Grade, console: Console) -> None:
    """Print a table of the exercises, and below it the feedback on wrong answers."""
    console.print(Text(grade.title, style="bold"))
    console.print(Text(printable(str(grade.notebook))), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Exercise", overflow="fold")
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    for verdict in grade.verdicts:
        look = LOOKS[verdict.kind]
        table.add_row(
            Text(verdict.exercise),
            f"{verdict.points}/{verdict.exercise_points}",
            Text(f"{look.symbol} {look.word}", style=_STYLES.get(verdict.kind, "red")),
        )
    console.print(table)
    says_all = {VerdictKind.CORRECT, VerdictKind.NOT_ATTEMPTED}
    for verdict in grade.verdicts:
        if verdict.failed:
            shown = feedback(verdict, advice=remarks(verdict, grade.notes), width=console.width - 2)
            console.print(Text(printable_lines(shown.text)), end="\n\n", soft_wrap=True)
        elif verdict.kind not in says_all or verdict.exercise in grade.notes:
            said = f"{verdict.exercise}: {explanation(verdict, grade.notes)}"
            console.print(Text(printable_lines(said)))
    which = "the public cases" if grade.seed == PUBLIC_SEED else "fresh cases"
    correct = sum(verdict.kind is VerdictKind.CORRECT for verdict in grade.verdicts)
    console.print(
        f"{grade.points} of {grade.all_points} points, "
        f"{correct} of {len(grade.verdicts)} exercises correct, on {which}."
    )


@contextmanager
def grading_progress(console: Console) -> Iterator[ShowProgress]:
    """Show a progress bar."""
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        *(TimeElapsedColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("preparing", total=None)
        yield lambda done, of: bar.update(task, description="grading", completed=done, total=of)


def show_class(summary: Summary, grades: ClassGrades, into: Path, console: Console) -> None:
    """Print a table of the students, what has changed, and what could not be graded."""
    console.print(_class_table(grades))
    for student in grades.students:
        if notes := "; ".join(_notes(grades, student)):
            console.print(Text(f"{_label(student)}: {notes}"))
    for change in summary.changes:
        where = f"{change.student}, {change.lesson}, {change.exercise}"
        said = f"Changed: {where}: {change.before}, now {change.after}: {change.why}"
        console.print(Text(printable(said)))
    console.print(
        f"{summary.graded} graded, {summary.unchanged} had not changed, "
        f"{len(not_graded(grades))} could not be graded."
    )
    for file, reason in summary.failed:
        why = shorten(reason, LONGEST_REASON)
        said = f"{printable(str(file))}: {why} The next run tries again."
        console.print(Text(said))
    console.print(Text(printable(f"The class report: {into / 'report.html'}")))


def _class_table(grades: ClassGrades) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Student", overflow="fold")
    for lesson in grades.lessons:
        number, _, _ = lesson.lesson.partition("_")
        table.add_column(f"{number}\nof {lesson.points}", justify="right", no_wrap=True)
    for student in grades.students:
        attempts = [grades.attempt(student, lesson) for lesson in grades.lessons]
        cells = ["–" if attempt is None else str(attempt.points) for attempt in attempts]
        table.add_row(Text(_label(student)), *cells)
    return table


def _label(student: Student) -> str:
    return shorten(student.label, LONGEST_NAME)


def _notes(grades: ClassGrades, student: Student) -> Iterator[str]:
    """Yield what there is to say of a student beside the points."""
    if not student.is_expected:
        yield "not on the list of the class"
    attempts = [grades.attempt(student, lesson) for lesson in grades.lessons]
    for attempt in filter(None, attempts):
        state = "" if attempt.state is AttemptState.GRADED else f", {attempt.state}"
        if attempt.reason:
            reason = attempt.reason.replace(attempt.file, Path(attempt.file).name)
            yield f"{attempt.lesson}{state}: {shorten(reason, LONGEST_REASON)}"
        if late := grades.late_by(attempt):
            yield f"{attempt.lesson}: late by {late}"
        for row in attempt.rows:
            if row.teacher and not row.teacher.on_this_answer:
                yield f"{attempt.lesson}, {row.exercise}: corrected for an earlier answer"
    if not any(attempts):
        is_waiting = any(student.id == waiting for waiting, _ in grades.waiting)
        yield NOT_YET_GRADED if is_waiting else NOT_HANDED_IN
