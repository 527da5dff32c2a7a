"""Command line arguments and options that more than one command has."""

from pathlib import Path
from typing import Annotated

import typer

Lesson = Annotated[
    str, typer.Argument(metavar="LESSON", help="Which lesson: 1, leaves or 01_leaves.")
]
Notebook = Annotated[
    Path, typer.Argument(metavar="NOTEBOOK", help="The exercise notebook to grade.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML to FILE.")
]
