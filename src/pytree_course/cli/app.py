"""The Typer application of all commands, with its consoles and shared arguments."""

import signal
import subprocess
import sys
from datetime import datetime, time
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from pytree_course.course import Course, CourseError, LessonFiles
from pytree_course.jax_configuration import drop_shells_settings
from pytree_course.texts import printable_lines

STARTED_AS = "pytree-course" if Path(sys.argv[0]).stem == "pytree-course" else "python3 course.py"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help=f"A hands-on course on JAX pytrees. Start with: {STARTED_AS} lab",
)
# No markup: the output may contain brackets, for example in the name of a folder.
console = Console(highlight=False, markup=False)
errors = Console(stderr=True, highlight=False, markup=False)

# Settings of a command that does not refuse unknown options.
PASS_UNKNOWN = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.callback()
def ignore_shells_settings_of_jax(context: typer.Context) -> None:
    """Start each command with the course's configuration of JAX.

    Only JupyterLab keeps the shell's settings: they are the learner's own.
    """
    if context.invoked_subcommand != "lab":
        drop_shells_settings()


def run(application: typer.Typer, name: str | None = None) -> None:
    """Run an application; on a `CourseError`, print its message and exit with status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # not every encoding has a ✓
    try:
        application(prog_name=name)
    except CourseError as error:
        warn(str(error), style="red")
        sys.exit(2)


def warn(message: str, style: str = "yellow") -> None:
    """Print a message, which may contain untrusted text, on standard error."""
    errors.print(Text(printable_lines(message), style=style), soft_wrap=True)


def run_in_course(command: list[str], course: Course) -> int:
    """Run a program in the course's folder; leave Ctrl-C and SIGTERM to it."""
    # KeyboardInterrupt could lose the exit status, and the program would inherit an ignored SIGINT.
    signal.signal(signal.SIGINT, lambda signum, frame: None)
    program = subprocess.Popen(command, cwd=course.root)
    signal.signal(signal.SIGTERM, lambda signum, frame: program.terminate())
    return program.wait()


Lesson = Annotated[
    str, typer.Argument(metavar="LESSON", help="Which lesson: 1, leaves or 01_leaves, or its file.")
]


def lesson_with_exercises(name: str) -> LessonFiles:
    """Return a lesson by name or by its exercise notebook's path; raise CourseError for a page."""
    course = Course.above()
    for files in course.lessons():
        if Path(name).resolve() == files.exercises:
            return files
    files = course.lesson_named(name)
    if not files.has_exercises:
        raise CourseError(f"{files.stem} has no exercises.")
    return files


def parse_deadline(text: str) -> datetime:
    """Parse a deadline in local time; a date alone means the end of that day."""
    try:
        deadline = datetime.fromisoformat(text)
    except ValueError as error:
        raise CourseError(
            f"--due {text} is not a time: write 2026-11-30, or 2026-11-30 23:59."
        ) from error
    is_date_alone = len(text) <= len("2026-11-30")
    if is_date_alone:
        deadline = datetime.combine(deadline, time.max)
    return deadline.astimezone()
