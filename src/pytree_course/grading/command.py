"""The command behind `course.py check` and behind each check script."""

from pathlib import Path

import typer
from rich.console import Console

from pytree_course import options
from pytree_course.grading.grade import grade_notebook
from pytree_course.grading.report import show, to_json, to_junit
from pytree_course.grading.submission import UnreadableError
from pytree_course.layout import Course, LessonFiles

UNREADABLE_STATUS = 2


def main(check_script: str) -> None:
    """Run a check script as a command: grade the notebook that is named on the command line.

    Parameters
    ----------
    check_script
        The script's `__file__`.

    Raises
    ------
    SystemExit
        With status 0 only when every exercise is correct.
    """
    script = Path(check_script).resolve()
    files = Course.find(script.parent).lesson(script.stem.removeprefix("check_"))

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

    @app.command()
    def grade(
        notebook: options.Notebook, json: options.Json = False, junit: options.Junit = None
    ) -> None:
        """Grade the answers in an exercise notebook; the exit status is 0 if all are correct."""
        raise typer.Exit(run(files, notebook, json, junit))

    app()


def run(files: LessonFiles, notebook: Path, json: bool, junit: Path | None) -> int:
    """Grade a notebook, show the grade, and return the exit status."""
    console = Console(highlight=False)
    errors = Console(stderr=True, highlight=False)
    try:
        with errors.status(f"running {notebook.name} …"):
            grade = grade_notebook(notebook, files)
    except UnreadableError as error:
        errors.print(f"Cannot grade this: {error}", style="red", markup=False)
        return UNREADABLE_STATUS
    if junit is not None:
        junit.write_text(to_junit(grade), encoding="utf-8")
    if json:
        typer.echo(to_json(grade))
    else:
        show(grade, console)
    return 0 if grade.all_correct else 1
