"""Build a lesson: sources in; notebooks, exercises, solutions and checks/expected out."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from pytree_course.authoring.authors_answers import expect
from pytree_course.authoring.handout import hand_out
from pytree_course.authoring.mistakes import find_mistakes
from pytree_course.authoring.notebooks import (
    render_exercises,
    render_lesson,
    render_solutions,
)
from pytree_course.authoring.sources import (
    AuthorMistakesError,
    LessonSources,
    Mistake,
    SourceCell,
    read_sources,
)
from pytree_course.built import (
    HIDDEN_OUTPUTS,
    METADATA_KEY,
    hide_outputs,
    hides_outputs,
    outputs_digest,
)
from pytree_course.checking.comparison import compare
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.course import NOBODY_VARIABLE, LessonFiles
from pytree_course.trees import Observation
from pytree_course.widgets.base import WIDGET_MIME

CELL_TIMEOUT = 300  # seconds
VARIES = "varies"
"""Tag of cells that show something else in each run, such as a time: their output is not kept."""

Tell = Callable[[str], None]


def build(files: LessonFiles, tell: Tell = lambda message: None) -> None:
    """Build all files of one lesson; write nothing when the author made a mistake.

    Parameters
    ----------
    files
        The lesson.
    tell
        Called with a line on each step.

    Raises
    ------
    AuthorMistakesError
        With file and line of everything that has to be mended.
    """
    tell("reading the sources")
    sources = read_sources(files)
    if files.has_exercises:
        _build_exercises(sources, tell)
    tell("running the lesson")
    lesson = _executed(render_lesson(sources), files.notebook, sources.lesson)
    _write(files.notebook, _text(lesson))


def _build_exercises(sources: LessonSources, tell: Tell) -> None:
    files = sources.files
    tell(f"trying the answers to {len(sources.exercises)} exercises")
    if mistakes := find_mistakes(sources):
        raise AuthorMistakesError(mistakes)
    expected = expect(sources, PUBLIC_SEED)
    expected.write(files.expected)
    if kept := hand_out(files, fresh=_text(render_exercises(sources))):
        tell(f"somebody had worked in the exercise notebook: it is kept as {kept}")
    tell("running the solutions")
    _write(
        files.solutions,
        _text(_executed(render_solutions(sources), files.solutions, sources.exercise_cells)),
    )


@dataclass(frozen=True)
class Stale:
    """A built file that is not what its sources make, and what mends it."""

    file: Path
    why: str
    command: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}. Run: {self.command}"


def find_stale(files: LessonFiles) -> list[Stale]:
    """Return the built files of a lesson that are missing, stale or edited by hand.

    Nothing is executed but the author's answers: outputs are nbval's to compare. The findings are
    the same under every Python that the course supports.
    """
    sources = read_sources(files)
    stale = [*_stale_notebook(files.notebook, render_lesson(sources), files)]
    if not files.has_exercises:
        return stale
    return [
        *stale,
        *_stale_notebook(files.solutions, render_solutions(sources), files),
        *_stale_notebook(files.blank, render_exercises(sources), files),
        *_stale_notebook(files.exercises, render_exercises(sources), files, "reset"),
        *_stale_expected(files.expected, sources),
    ]


def _stale_notebook(
    file: Path, wanted: NotebookNode, files: LessonFiles, command: str = "build"
) -> Iterator[Stale]:
    mend = f"python3 course.py {command} {files.stem}"
    if not file.exists():
        yield Stale(file, "it was not built", mend)
        return
    notebook = nbformat.read(file, as_version=4)
    if (
        notebook.metadata.get(METADATA_KEY, {}).get("sources")
        != (wanted.metadata[METADATA_KEY]["sources"])
    ):
        yield Stale(file, "its sources have changed since it was built", mend)
    elif _without_outputs(notebook) != _without_outputs(wanted):
        yield Stale(file, "it was edited by hand; change the sources instead", mend)
    elif notebook.metadata[METADATA_KEY]["outputs"] != outputs_digest(notebook):
        yield Stale(file, "its outputs were edited by hand or by running it", mend)


def _stale_expected(file: Path, sources: LessonSources) -> Iterator[Stale]:
    mend = f"python3 course.py build {sources.files.stem}"
    if not file.exists():
        yield Stale(file, "it was not built", mend)
        return
    stored, wanted = Expected.read(file), expect(sources, PUBLIC_SEED)
    if stored.sources != wanted.sources:
        yield Stale(file, "its sources have changed since it was built", mend)
    elif not _agree(stored, wanted):
        yield Stale(file, "the right answers yield something else than it says", mend)


def _agree(stored: Expected, wanted: Expected) -> bool:
    """Say whether two expectations agree as a check would: floats may differ in the last digit."""
    if _without_observations(stored) != _without_observations(wanted):
        return False
    for name, exercise in wanted.exercises.items():
        observations, stored_ones = _observations(exercise), _observations(stored.exercises[name])
        if observations.keys() != stored_ones.keys():
            return False
        if any(compare(observations[key], stored_ones[key]) for key in observations):
            return False
    return True


def _without_observations(expected: Expected) -> Expected:
    exercises = {
        name: replace(
            exercise,
            observations=[],
            misconceptions=[replace(each, observations={}) for each in exercise.misconceptions],
        )
        for name, exercise in expected.exercises.items()
    }
    return replace(expected, exercises=exercises)


def _observations(exercise: ExpectedExercise) -> dict[tuple[str, int], Observation]:
    return {("solution", case): each for case, each in enumerate(exercise.observations)} | {
        (f"misconception {misconception.name}", case): each
        for misconception in exercise.misconceptions
        for case, each in misconception.observations.items()
    }


def _executed(notebook: NotebookNode, file: Path, source_cells: list[SourceCell]) -> NotebookNode:
    """Run a notebook where it will stand, and keep outputs without traces of this one run."""
    file.parent.mkdir(exist_ok=True)
    resources = {"metadata": {"path": str(file.parent)}}
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources=resources,
    )
    # The kernel's own log would only repeat, on the terminal, that it uses local TCP ports.
    try:
        client.execute(stderr=subprocess.DEVNULL, env={**os.environ, NOBODY_VARIABLE: "1"})
    except CellExecutionError as error:
        raise AuthorMistakesError([_failed(notebook, source_cells, error)]) from None
    # Every count is 1, so that a cell added at the top changes no line below it. It cannot be
    # None: nbval refuses outputs of cells that were not run.
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = 1
                # A live widget is nothing without its kernel: its static form stays.
                output.get("data", {}).pop(WIDGET_MIME, None)
            if hides_outputs(cell):
                hide_outputs(cell)
            if VARIES in cell.metadata.tags:
                cell.outputs, cell.execution_count = [], None
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata[METADATA_KEY]["outputs"] = outputs_digest(notebook)
    return notebook


def _failed(
    notebook: NotebookNode, source_cells: list[SourceCell], error: CellExecutionError
) -> Mistake:
    """Name the source of the cell that raised an exception."""
    failed = next(
        cell.id
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    )
    message = f"the cell {failed!r} raised {error.ename}: {error.evalue}"
    # Cells that the build adds, such as checks, come from the cell that is named in theirs.
    for cell in source_cells:
        if failed.startswith((cell.id, str(cell.metadata.get("exercise", cell.id)))):
            return Mistake(cell.file, cell.line, message)
    return Mistake(source_cells[0].file, 1, message)


def _without_outputs(notebook: NotebookNode) -> list[tuple[str, str, str, str]]:
    return [(cell.id, cell.cell_type, cell.source, _metadata(cell)) for cell in notebook.cells]


def _metadata(cell: NotebookNode) -> str:
    hidden: dict[str, Any] = {METADATA_KEY: {HIDDEN_OUTPUTS: []}} if hides_outputs(cell) else {}
    return json.dumps({**cell.metadata, **hidden}, sort_keys=True)


def _text(notebook: NotebookNode) -> str:
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
