"""Grade one notebook, for `course.py check` and for check scripts run as commands."""

import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from pytree_course.cli.app import console, errors, run
from pytree_course.course import Course, LessonFiles
from pytree_course.jax_configuration import drop_shells_settings
from pytree_course.texts import printable

if TYPE_CHECKING:  # importing grading is slow
    from pytree_course.grading.grade import Grade


def main(check_script: str) -> None:
    """Run a check script, given its `__file__`, as a command that grades a notebook."""
    if drop_shells_settings():  # the check script has imported JAX
        sys.exit(subprocess.call([sys.executable, *sys.orig_argv[1:]]))
    script = Path(check_script).resolve()
    files = Course.above(script.parent).lesson(script.stem.removeprefix("check_"))

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

    @app.command()
    def grade(notebook: Path) -> None:
        """Grade the answers in an exercise notebook; the exit status is 0 if all are correct."""
        is_all_correct = grade_and_show(files, notebook).is_all_correct
        raise typer.Exit(0 if is_all_correct else 1)

    run(app)


def grade_and_show(files: LessonFiles, notebook: Path) -> "Grade":
    """Grade a notebook; show and return the grade."""
    from pytree_course.grading.grade import grade_notebook
    from pytree_course.reports.terminal import show_grade

    with errors.status(Text(f"running {printable(notebook.name)} …")):
        grade = grade_notebook(notebook, files)
    show_grade(grade, console)
    saved = datetime.fromtimestamp(notebook.stat().st_mtime)
    console.print(f"This is the notebook as it was saved on {saved:%Y-%m-%d at %H:%M:%S}.")
    return grade
