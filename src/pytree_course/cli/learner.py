"""The learners' commands: lab, check, progress, reset, review, test."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from pytree_course.cli.app import (
    PASS_UNKNOWN,
    STARTED_AS,
    Lesson,
    app,
    console,
    lesson_with_exercises,
    run_in_course,
    warn,
)
from pytree_course.course import PROGRESS_VARIABLE, Course, CourseError


@app.command(context_settings=PASS_UNKNOWN)
def lab(
    context: typer.Context,
    join: Annotated[
        tuple[str, str] | None, typer.Option(metavar="ADDRESS CODE", help="Join a class.")
    ] = None,
    name: Annotated[str, typer.Option("--as", help="Your name in that class.")] = "",
) -> None:
    """Open JupyterLab at the lesson to go on with. In an empty folder, first unpack the course.

    JupyterLab gets all other options.
    """
    from pytree_course.learner.standings import lesson_to_go_on_with
    from pytree_course.released_files import unpack

    try:
        course = Course.above()
    except CourseError:
        course = unpack(Path.cwd())
        console.print(
            f"The course is in {course.root}. To go on later, start `lab` in this folder again."
        )
    if join:
        from pytree_course.notebook.membership import join_class, welcome_note

        address, code = join
        console.print(welcome_note(join_class(course, address, code, name)))
    lesson = lesson_to_go_on_with(course) or course.lessons()[0]
    shown = lesson.notebook.relative_to(course.root).as_posix()
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={course.root}"),
        *(f"--LabApp.default_url=/lab/tree/{shown}", *context.args),
    ]
    if not os.access(Path.home(), os.W_OK):
        warn(
            f"Your home folder {Path.home()} cannot be written, and JupyterLab keeps its settings "
            f"there. If it does not start, choose another: HOME=FOLDER {STARTED_AS} lab"
        )
    # Otherwise the user's own kernel "python3" comes before that of an environment of root's.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    raise typer.Exit(run_in_course(command, course))


@app.command()
def check(lesson: Lesson) -> None:
    """Grade my exercises of one lesson; the exit status is 0 if all answers are correct.

    Right answers count as progress.
    """
    from pytree_course.cli.check_script import grade_and_show
    from pytree_course.judging.verdicts import VerdictKind
    from pytree_course.learner.progress import Progress

    files = lesson_with_exercises(lesson)
    grade = grade_and_show(files, files.exercises)
    progress = Progress.load(Course(files.root).progress_file)
    for verdict in grade.verdicts:
        is_known = progress.in_exercise(grade.lesson, verdict.exercise).correct
        if verdict.kind is VerdictKind.CORRECT and not is_known:
            progress.add(grade.lesson, verdict.exercise, "correct")
    for line in progress.take_warnings():
        warn(line)
    raise typer.Exit(0 if grade.is_all_correct else 1)


@app.command()
def progress() -> None:
    """Show how far you are: exercises, points, practice, minutes left and badges."""
    from pytree_course.notebook.progress_views import course_map

    console.print(course_map().text)


@app.command()
def reset(lesson: Lesson) -> None:
    """Start a lesson's exercises again. Your notebook is kept beside the fresh one."""
    from pytree_course.released_files import hand_out

    files = lesson_with_exercises(lesson)
    try:
        kept_copy = hand_out(files, files.read_blank())
    except OSError as error:
        raise CourseError(
            f"{files.exercises} is unchanged: a fresh one could not be written ({error.strerror}). "
            "Is the disk full, or the folder read-only?"
        ) from error
    if kept_copy:
        console.print(f"Your notebook is kept as {kept_copy}")
    console.print(
        f"{files.exercises} is fresh. Close this notebook in JupyterLab and open it again."
    )
    console.print("What you solved before stays in your progress.")


@app.command()
def review() -> None:
    """Answer the questions that are due, here in the terminal."""
    from rich.prompt import Prompt

    from pytree_course.learner.review import Review

    due = Review(Course.of_notebook())
    while question := due.next():
        console.print(f"\n{due.show(question)}\n")
        letters = [*question.options] or None
        choice = Prompt.ask("Your answer", choices=letters, case_sensitive=False, console=console)
        console.print(f"\n{due.answer(question, choice)}")
    console.print(due.end)


@app.command(context_settings=PASS_UNKNOWN)
def test(
    context: typer.Context,
    fast: Annotated[
        bool, typer.Option("--fast", help="Only tests that need no browser, class or whole lesson.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also every lesson, and every Python: for a release.")
    ] = False,
) -> None:
    """Run the tests; in a learner's copy, run the lessons. pytest gets all other arguments."""
    course = Course.above()
    # A fast run would spend a large part of each process's time on imports; other tests start a
    # browser or kernels, and a laptop's memory is limited.
    max_processes = 2 if fast else 4
    # One more than cores, because some tests wait.
    processes = min(1 + (os.cpu_count() or 1), max_processes)
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
        *("--dist", "loadfile", "--numprocesses", str(processes)),
    ]
    if (course.root / "tests").is_dir():
        command += ["--no-loadscope-reorder"]  # the tests' order has slow files first
        command += ["--all"] if everything else []
        command += ["-m", "not slow"] if fast else []
        command += ["-p", "no:nbval"]  # it takes seconds to load, and no test needs it
    else:
        command += ["-p", "pytree_course.built", "--nbval-lax", "--nbval-current-env"]
        command += ["--override-ini", "testpaths=notebooks"]
    with TemporaryDirectory() as progress:  # running the lessons is not a learner's progress
        os.environ[PROGRESS_VARIABLE] = progress
        os.environ["IPYTHONDIR"] = f"{progress}/ipython"  # no personal start-up files
        raise typer.Exit(run_in_course([*command, *context.args], course))
