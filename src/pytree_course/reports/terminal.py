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

from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.class_grading.grade_class import ShowProgress, Summary
from pytree_course.grading.grade import Grade
from pytree_course.judging.feedback import LOOKS, feedback
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.judging.words import explain_verdict, remarks
from pytree_course.rendering import render
from pytree_course.reports.class_statistics import find_ungraded
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.texts import printable, printable_lines

MAX_CHANGES = 20
_STYLES = {
    VerdictKind.CORRECT: "green",
    VerdictKind.NOT_ATTEMPTED: "dim",
    VerdictKind.INCORRECT: "yellow",
}


def show_grade(grade: Grade, console: Console) -> None:
    """Print a table of the exercises, the feedback on wrong answers, and the points."""
    console.print(Text(grade.title, style="bold"))
    console.print(Text(printable(str(grade.notebook))), soft_wrap=True)
    console.print(_make_verdict_table(grade))
    for verdict in grade.verdicts:
        _show_feedback(verdict, console)
    cases = "the public cases" if grade.seed == PUBLIC_SEED else "fresh cases"
    correct = sum(verdict.kind is VerdictKind.CORRECT for verdict in grade.verdicts)
    console.print(
        f"{grade.points} of {grade.all_points} points, "
        f"{correct} of {len(grade.verdicts)} exercises correct, on {cases}."
    )


def _make_verdict_table(grade: Grade) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Exercise", overflow="fold")
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    for verdict in grade.verdicts:
        look = LOOKS[verdict.kind]
        table.add_row(
            Text(verdict.title),
            f"{verdict.points}/{verdict.exercise_points}",
            Text(f"{look.symbol} {look.word}", style=_STYLES.get(verdict.kind, "red")),
        )
    return table


def _show_feedback(verdict: Verdict, console: Console) -> None:
    """Print why an answer is not correct, or a remark on it; nothing if there is neither."""
    needs_reason = verdict.kind not in (VerdictKind.CORRECT, VerdictKind.NOT_ATTEMPTED)
    if verdict.failed:
        text = feedback(verdict, advice=remarks(verdict), width=console.width - 2).text
        console.print(Text(printable_lines(text)), end="\n\n", soft_wrap=True)
    elif needs_reason or verdict.note:
        reason = f"{verdict.title}: {explain_verdict(verdict)}"
        console.print(Text(printable_lines(reason)))


@contextmanager
def grading_progress(console: Console) -> Iterator[ShowProgress]:
    """Show a progress bar; yield the function that updates it."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as bar:
        task = bar.add_task("preparing", total=None)
        yield lambda done, total: bar.update(
            task, description="grading", completed=done, total=total
        )


def show_class(summary: Summary, grades: ClassGrades, into: Path, console: Console) -> None:
    """Print the ungraded attempts, the changed marks, and where the report is."""
    ungraded = find_ungraded(grades)
    not_counting = {(student.id, lesson.lesson) for student, lesson, _ in ungraded}
    text = render(
        "reports/outcome.txt",
        summary=summary,
        grades=grades,
        ungraded=ungraded,
        earlier_counts=[each for each in summary.failed if each[:2] not in not_counting],
        most=MAX_CHANGES,
        report=str(into / "report.html"),
    )
    console.print(Text(text))
