"""The command behind `course.py grade`."""

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
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

from pytree_course.checking.expected import Expected
from pytree_course.grading.class_grades import (
    NOT_HANDED_IN,
    NOT_YET_GRADED,
    ClassGrades,
    enrolled,
)
from pytree_course.grading.classroom import GradingOptions, Summary, grade_class
from pytree_course.grading.engines import EngineError, dask_cluster, local_processes
from pytree_course.grading.exports import write_exports
from pytree_course.grading.gradebook import (
    Gradebook,
    GradebookError,
    UnwritableError,
    counting,
)
from pytree_course.grading.handed_in import (
    ClassFolder,
    FolderError,
    read_class_folder,
    read_roster,
    students_folder,
)
from pytree_course.grading.pages import write_pages
from pytree_course.grading.sandbox import NoSandboxError, require_sandbox
from pytree_course.layout import Course

UNUSABLE_STATUS = 2
GRADEBOOK = "gradebook.sqlite"


@dataclass(frozen=True)
class ClassRequest:
    """What a teacher asks for on the command line.

    Attributes
    ----------
    folder
        What the class handed in.
    into
        Where the gradebook, the tables and the pages go.
    jobs
        How many submissions run at once on this machine.
    dask
        Address of a Dask scheduler; None for this machine alone.
    roster
        The list of the class, if there is one.
    due
        When work had to be handed in.
    """

    folder: Path
    into: Path
    options: GradingOptions
    jobs: int
    dask: str | None
    roster: Path | None
    due: datetime | None


def run(course: Course, request: ClassRequest) -> int:
    """Grade a class, write the reports, and return the exit status."""
    console = Console(highlight=False)
    errors = Console(stderr=True, highlight=False)
    try:
        summary, grades = _grade(course, request, errors)
    except UnwritableError as error:
        errors.print(f"Grading stopped. {error}", style="red", markup=False)
        return UNUSABLE_STATUS
    except (FolderError, GradebookError, EngineError, NoSandboxError) as error:
        errors.print(f"Nothing was graded. {error}", style="red", markup=False)
        return UNUSABLE_STATUS
    try:
        write_exports(grades, request.into)
        write_pages(grades, request.into)
    except OSError as error:
        errors.print(
            "The grades are in the gradebook, but not all tables and pages could be written: "
            f"{error}. Mend that, and start again: nothing is run twice.",
            style="red",
            markup=False,
        )
        return UNUSABLE_STATUS
    _show(summary, grades, request, console)
    return 1 if summary.failed else 0


def _grade(course: Course, request: ClassRequest, errors: Console) -> tuple[Summary, ClassGrades]:
    if request.options.in_sandbox:
        require_sandbox()
    else:
        errors.print(
            "Without the sandbox, the notebooks can read and change all that you can, and reach "
            "the network. Do this with your own work only.",
            style="yellow",
        )
    folder = read_class_folder(request.folder, course)
    _refuse_mistakes(request, folder)
    roster = read_roster(request.roster) if request.roster else None
    for file, why in folder.ignored:
        errors.print(f"Left out: {file}: {why}", style="yellow", markup=False)
    gradebook = Gradebook(request.into / GRADEBOOK)
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        *(TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TimeRemainingColumn()),
    )
    with ExitStack() as stack:
        stack.callback(gradebook.close)
        new_executor = local_processes(request.jobs)
        if request.dask:
            new_executor = stack.enter_context(dask_cluster(request.dask))
        bar = stack.enter_context(Progress(*columns, console=errors))
        task = bar.add_task("preparing", total=None, rate="")

        def progress(done: int, of: int) -> None:
            # Not rich's own speed: results that come together would make it endless.
            elapsed = bar.tasks[task].elapsed
            rate = f"{60 * done / elapsed:.0f} a minute" if done and elapsed else ""
            bar.update(task, description="grading", completed=done, total=of, rate=rate)

        summary = grade_class(course, folder, gradebook, request.options, new_executor, progress)
        attempts = counting(gradebook.attempts(), request.options.best)
    handed_in = {lesson for _, lesson in attempts}
    lessons = [
        Expected.read(files.expected) for files in course.lessons() if files.stem in handed_in
    ]
    students = enrolled([*folder.students, *(student for student, _ in attempts)], roster)
    waiting = {(each.student, each.lesson) for each in folder.notebooks} - {*attempts}
    return summary, ClassGrades(students, lessons, attempts, request.due, frozenset(waiting))


def _refuse_mistakes(request: ClassRequest, folder: ClassFolder) -> None:
    """Refuse what would grade nobody, or put the grades among the students."""
    unknown = sorted({*request.options.students} - {*folder.students})
    if unknown:
        raise FolderError(
            f"{request.folder} has no folder of {', '.join(unknown)}. A student is called what the "
            f"folder is called, as {' or '.join(folder.students[:2])}."
        )
    students = students_folder(request.folder).resolve()
    if request.into.resolve().is_relative_to(students):
        raise FolderError(
            f"{request.into} is inside of {students}, where every folder is a student's: name a "
            "folder elsewhere, so that nobody takes the grades for a student."
        )


def _show(summary: Summary, grades: ClassGrades, request: ClassRequest, console: Console) -> None:
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
            values = (change.student, change.lesson, change.exercise, change.before, change.after)
            changes.add_row(*map(Text, values), Text(change.why))
        console.print(changes)
    console.print(
        f"{summary.graded} graded, {summary.unchanged} had not changed, "
        f"{len(summary.failed)} could not be graded."
    )
    for handed_in, reason in summary.failed:
        console.print(Text(f"{handed_in.file}: {reason} It will be tried again next time."))
    console.print(Text(f"The class report: {request.into / 'report.html'}"))
