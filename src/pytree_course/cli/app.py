"""The application that the groups of commands add their commands to."""

import signal
import subprocess
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from pytree_course.course import Course, CourseError

CANNOT_STATUS = 2
"""Exit status of a command that could not do what it was asked to."""

STARTED_AS = "pytree-course" if Path(sys.argv[0]).stem == "pytree-course" else "python3 course.py"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help=f"A hands-on course on JAX pytrees. Start with: {STARTED_AS} lab",
)
console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def run(application: typer.Typer, name: str | None = None) -> None:
    """Run an application; a `CourseError` ends it with its message and `CANNOT_STATUS`."""
    try:
        application(prog_name=name)
    except CourseError as error:
        errors.print(Text(str(error), style="red"), soft_wrap=True)
        sys.exit(CANNOT_STATUS)


def run_in_course(command: list[str], course: Course) -> int:
    """Run another program in the course's folder; Ctrl-C is left to that program."""
    # Neither an exception around the wait, which may lose the status, nor ignored, which the
    # program would inherit.
    signal.signal(signal.SIGINT, lambda signum, frame: None)
    return subprocess.Popen(command, cwd=course.root).wait()
