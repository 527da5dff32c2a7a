"""The commands of `course.py`."""

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pytree_course import options
from pytree_course.layout import Course, CourseNotFoundError, LessonFiles

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A hands-on course on JAX pytrees. Start with: python3 course.py lab",
)
console = Console(highlight=False)


def _course() -> Course:
    try:
        return Course.find()
    except CourseNotFoundError as error:
        raise typer.BadParameter(str(error)) from None


def _lesson(name: str) -> LessonFiles:
    try:
        return _course().lesson_named(name)
    except LookupError as error:
        raise typer.BadParameter(str(error)) from None


def _lesson_with_exercises(name: str) -> LessonFiles:
    files = _lesson(name)
    if not files.has_exercises:
        raise typer.BadParameter(f"{files.stem} has no exercises.")
    return files


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context) -> None:
    """Open JupyterLab at lesson 1. More options are handed to JupyterLab."""
    from pytree_course.built import trust_built_notebooks

    course = _course()
    trust_built_notebooks(course)
    first = course.lessons()[0].notebook.relative_to(course.root).as_posix()
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={course.root}"),
        *(f"--LabApp.default_url=/lab/tree/{first}", *context.args),
    ]
    raise typer.Exit(_run(command, course))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(context: typer.Context) -> None:
    """Run all tests of the course. More options are handed to pytest."""
    course = _course()
    # A notebook's cells belong together; the other tests go to whichever process is free.
    tests = ["--dist", "worksteal"]
    nbval = ["--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", "--dist", "loadfile"]
    # A learner's copy has neither tests nor solutions: there, the lessons are run.
    suites = [
        [*arguments, *present]
        for arguments, folders in [(tests, ["tests"]), (nbval, ["notebooks", "solutions"])]
        if (present := [folder for folder in folders if (course.root / folder).is_dir()])
    ]
    # More processes would need more memory than a laptop has: some start a browser or a kernel.
    processes = ["--numprocesses", "auto", "--maxprocesses", "4"]
    for suite in suites:
        status = _run([sys.executable, "-m", "pytest", *processes, *suite, *context.args], course)
        if status != 0:
            raise typer.Exit(status)


@app.command()
def build(
    lessons: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON]...", help="All, if none is named.")
    ] = None,
) -> None:
    """For authors: build notebooks, exercises and solutions from the sources."""
    from pytree_course.authoring.building import build as build_lesson
    from pytree_course.authoring.sources import AuthorMistakesError
    from pytree_course.authoring.traceability import write_table

    course = _course()
    everything = course.with_sources()
    if not everything:
        raise typer.BadParameter("This copy of the course has no sources to build it from.")
    chosen = [_lesson(name) for name in lessons] if lessons else everything
    # Pages come last, and with every lesson: the start page shows what lessons there are.
    pages = [files for files in everything if not files.has_exercises]
    chosen = [*(files for files in chosen if files.has_exercises), *pages]
    for files in chosen:
        console.print(files.stem, style="bold")
        try:
            build_lesson(files, tell=lambda step: console.print(f"  {step}", markup=False))
        except AuthorMistakesError as error:
            typer.secho("Nothing was built. Mend this first:", err=True, bold=True)
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
    try:
        # Last of all: which cells show a topic depends on every lesson.
        write_table(course)
    except AuthorMistakesError as error:
        typer.secho("The table of topics was not built. Mend this first:", err=True, bold=True)
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command()
def release(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A new folder, or that of an earlier release."),
    ],
) -> None:
    """For teachers: write the learners' bundle, which has no solutions in it."""
    from pytree_course.release import ReleaseError
    from pytree_course.release import release as release_to

    try:
        with console.status("Looking whether everything fits its sources: a minute or two ..."):
            stamp = release_to(_course(), folder)
    except ReleaseError as error:
        typer.secho(str(error), err=True)
        raise typer.Exit(1) from None
    console.print(f"{folder} holds what learners get. Its version: {stamp}", markup=False)


@app.command()
def progress() -> None:
    """Show how far you are: points and exercises, lesson by lesson."""
    from pytree_course.checking.badges import badges
    from pytree_course.checking.expected import Expected
    from pytree_course.checking.progress import Progress
    from pytree_course.checking.standing import standing

    course = _course()
    done = Progress.load(course.progress_file)
    lessons = [Expected.read(files.expected) for files in course.lessons()]
    table = Table("Lesson", "Exercise", "Points", "Status", "Tries", "Hints")
    for expected in lessons:
        for exercise in expected.exercises.values():
            mine = done.of(expected.lesson, exercise.name)
            earned = exercise.points if mine.correct else 0
            table.add_row(
                expected.lesson,
                exercise.name,
                f"{earned}/{exercise.points}",
                "✓ correct" if mine.correct else "… tried" if mine.tries else "○ to do",
                str(mine.tries),
                str(mine.hints),
            )
    console.print(table)
    for expected in lessons:
        console.print(f"{expected.lesson}: {standing(expected, done)}", markup=False)
    names = [f"{badge.symbol} {badge.name}" for badge in badges(lessons, done) if badge.earned]
    console.print(f"Badges: {', '.join(names) or 'none yet'}", markup=False)
    if done.unreadable_lines:
        console.print(f"{done.unreadable_lines} lines of {done.file} could not be read.")


@app.command()
def reset(lesson: options.Lesson) -> None:
    """Start a lesson's exercises afresh. Your notebook is kept beside the fresh one."""
    from pytree_course.handout import hand_out

    files = _lesson_with_exercises(lesson)
    kept = hand_out(files)
    if kept:
        console.print(f"Your notebook is kept as {kept}")
    console.print(f"{files.exercises} is as new. Close it in JupyterLab and open it again.")
    console.print("What you solved before stays in your progress.")


@app.command()
def check(lesson: options.Lesson, json: options.Json = False, junit: options.Junit = None) -> None:
    """Grade my exercises of one lesson; the exit status is 0 if all are correct."""
    from pytree_course.grading.command import run

    files = _lesson_with_exercises(lesson)
    raise typer.Exit(run(files, files.exercises, json, junit))


@app.command()
def grade(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder with a folder for each student, or nbgrader's `submitted`."),
    ],
    into: Annotated[Path, typer.Option(help="Where the gradebook, the tables and the pages go.")],
    lesson: Annotated[list[str] | None, typer.Option(help="Only this lesson.")] = None,
    student: Annotated[list[str] | None, typer.Option(help="Only this student.")] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="How many notebooks run at once on this machine.")
    ] = os.cpu_count() or 1,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run them on the Dask cluster with this scheduler."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The class: CSV with the columns student and name."),
    ] = None,
    due: Annotated[
        datetime | None, typer.Option(help="Work handed in later than this is marked as late.")
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="The best attempt counts, and not the last one.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run also what has not changed since last time.")
    ] = False,
    unsandboxed: Annotated[
        bool, typer.Option("--unsandboxed", help="Run the notebooks unprotected: only your own!")
    ] = False,
) -> None:
    """For teachers: grade a class; write a gradebook, tables and pages."""
    from pytree_course.grading.class_command import ClassRequest, run
    from pytree_course.grading.classroom import GradingOptions

    course = _course()
    options = GradingOptions(
        lessons=[_lesson_with_exercises(name).stem for name in lesson or ()],
        students=student or (),
        force=force,
        best=best,
        in_sandbox=not unsandboxed,
    )
    moment = due.astimezone() if due else None
    raise typer.Exit(run(course, ClassRequest(folder, into, options, jobs, dask, roster, moment)))


def _run(command: list[str], course: Course) -> int:
    """Run a command in the course's folder; Ctrl-C is the command's to answer."""
    process = subprocess.Popen(command, cwd=course.root)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
