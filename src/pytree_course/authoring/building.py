"""Build a lesson from its sources: notebooks, exercises, solutions and checks/expected."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from pytree_course import built
from pytree_course.authoring.notebooks import render_exercises, render_notebooks
from pytree_course.authoring.validation import (
    find_mistakes_in_answers,
    find_mistakes_in_text,
)
from pytree_course.course import NOBODY_VARIABLE, LessonFiles
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.questions import questions
from pytree_course.notebook.base import WIDGET_MIME
from pytree_course.released_files import hand_out
from pytree_course.sources.authors_answers import expect_lesson
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from pytree_course.sources.source_cells import AuthorMistakesError, Mistake, SourceCell
from pytree_course.texts import write_file

CELL_TIMEOUT_SECONDS = 300
VARIES = "varies"
"""Tag of cells whose output differs in each run, such as a time: it is not stored."""

NOT_BUILT = "it was not built"
CHANGED_SOURCES = "its sources have changed since it was built"
EDITED = "it was edited by hand; change the sources instead"

Tell = Callable[[str], None]


def build(files: LessonFiles, tell: Tell = lambda message: None, *, again: bool = False) -> bool:
    """Build the stale files of a lesson; return whether expected results or minutes have changed.

    Parameters
    ----------
    files
        The lesson's files.
    tell
        Called with a line for each step.
    again
        Whether to build up-to-date files as well, after a change of the engine.

    Raises
    ------
    AuthorMistakesError
        With file and line of every mistake; nothing was written.
    """
    tell("reading the sources")
    sources = read_sources(files)
    if mistakes := find_mistakes_in_text(sources):
        raise AuthorMistakesError(mistakes)
    has_changed = files.has_exercises and _build_exercises(sources, tell, again=again)
    for file, notebook in render_notebooks(sources).items():
        if again or _why_notebook_is_stale(file, notebook):
            tell(f"running {file.relative_to(files.root).as_posix()}")
            write_file(file, _text(_executed(notebook, file, sources.all_cells)))
    for gone in {*files.deeper_notebooks.glob("*.ipynb")} - {*files.notebooks()}:
        tell(f"deleting {gone.name}, which no longer has a source")
        gone.unlink()
    return has_changed


def _build_exercises(sources: LessonSources, tell: Tell, *, again: bool) -> bool:
    """Build the stale exercise files; return whether the expected results have changed."""
    files = sources.files
    stored = None if again else _stored_results(sources)
    expected = stored or _prove(sources, tell)
    has_changed = expected.write(files.expected)
    blank, solved = render_exercises(sources), render_exercises(sources, solved=True)
    is_stale = not files.exercises.exists() or _why_notebook_is_stale(files.blank, blank)
    kept = hand_out(files, _text(blank)) if again or is_stale else None
    if kept:
        tell(f"the exercise notebook had answers in it: it is kept as {kept}")
    # What a check says of a solution, such as how many cases passed, depends on the check script.
    if stored is None or _why_notebook_is_stale(files.solutions, solved):
        tell("running the solutions")
        solutions = _executed(solved, files.solutions, sources.exercise_cells)
        write_file(files.solutions, _text(solutions))
    return has_changed


def _stored_results(sources: LessonSources) -> BuiltLesson | None:
    """Return the stored results, with the sources' facts; None if the answers have to run again."""
    file = sources.files.expected
    if not file.exists():
        return None
    stored = BuiltLesson.read(file)
    if not _is_of(stored, sources) or stored.results != stored.results_on_disk():
        return None
    return replace(
        stored,
        title=sources.title,
        sections=sources.sections,
        predictions=sources.predictions,
        exercises=dict(sources.exercises),
    )


def _is_of(stored: BuiltLesson, sources: LessonSources) -> bool:
    """Return whether stored results were built from these sources."""
    digests = (sources.files.exercises_digest(), sources.practice_digest)
    return (stored.sources, stored.practice) == digests


def _prove(sources: LessonSources, tell: Tell) -> BuiltLesson:
    """Run all answers; return the expected results, or raise AuthorMistakesError."""
    tell(f"trying the answers to {len(sources.exercises)} exercises")
    if mistakes := find_mistakes_in_answers(sources):
        raise AuthorMistakesError(mistakes)
    expected = expect_lesson(sources)
    with_questions = {belief.exercise for belief in questions(expected)}
    message = "no case makes a question: see `question` in docs/authoring.md"
    mistakes = [
        exercise.mistake(message)
        for exercise in sources.exercises.values()
        if exercise.question and exercise.name not in with_questions
    ]
    if mistakes:
        raise AuthorMistakesError(mistakes)
    return expected


@dataclass(frozen=True)
class Stale:
    """A built file that does not match its sources, and the command that rebuilds it."""

    file: Path
    why: str
    command: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}. Run: {self.command}"


def find_stale(files: LessonFiles) -> list[Stale]:
    """Return the built files of a lesson that are missing, stale or edited by hand.

    It runs no answer and no notebook: it compares digests of sources, results and outputs.
    """
    sources = read_sources(files)
    notebooks = render_notebooks(sources)
    if files.has_exercises:
        notebooks[files.solutions] = render_exercises(sources, solved=True)
        notebooks[files.blank] = notebooks[files.exercises] = render_exercises(sources)
    reasons = {file: _why_notebook_is_stale(file, made) for file, made in notebooks.items()}
    if files.has_exercises:
        reasons[files.expected] = _why_expected_is_stale(sources)
    commands = {files.exercises: "reset"}
    return [
        Stale(file, why, f"python3 course.py {commands.get(file, 'build')} {files.stem}")
        for file, why in reasons.items()
        if why
    ]


def _why_notebook_is_stale(file: Path, wanted: NotebookNode) -> str | None:
    if not file.exists():
        return NOT_BUILT
    notebook = nbformat.read(file, as_version=4)
    digests = notebook.metadata.get(built.METADATA_KEY, {})
    if digests.get(built.SOURCES) != wanted.metadata[built.METADATA_KEY][built.SOURCES]:
        return CHANGED_SOURCES
    if _without_outputs(notebook) != _without_outputs(wanted):
        return EDITED
    if digests[built.OUTPUTS] != built.outputs_digest(notebook):
        return "its outputs were edited by hand or by running it (`git restore` brings them back)"
    return None


def _why_expected_is_stale(sources: LessonSources) -> str | None:
    file = sources.files.expected
    if not file.exists():
        return NOT_BUILT
    stored = BuiltLesson.read(file)
    if not _is_of(stored, sources):
        return CHANGED_SOURCES
    wanted = _stored_results(sources)
    if wanted is None or wanted.to_text() != stored.to_text():
        return EDITED
    return None


def _executed(notebook: NotebookNode, file: Path, source_cells: list[SourceCell]) -> NotebookNode:
    """Run a notebook in its folder, and make its outputs reproducible."""
    file.parent.mkdir(parents=True, exist_ok=True)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_SECONDS,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(file.parent)}},
    )
    # The kernel's log would only tell the terminal that it uses local TCP ports.
    try:
        client.execute(stderr=subprocess.DEVNULL, env={**os.environ, NOBODY_VARIABLE: "1"})
    except CellExecutionError as error:
        raise AuthorMistakesError([_failed(notebook, source_cells, error)]) from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            _make_reproducible(cell)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata[built.METADATA_KEY][built.OUTPUTS] = built.outputs_digest(notebook)
    return notebook


def _make_reproducible(cell: NotebookNode) -> None:
    """Remove from a cell what differs between runs and machines; hide a prediction's answer."""
    # Every count is 1, so that a cell added at the top does not change the cells below. It cannot
    # be None: nbval refuses outputs of cells that were not run.
    cell.execution_count = 1
    for output in cell.outputs:
        if output.output_type == "error":  # whose traceback has paths of this machine
            output.evalue = built.strip_machine_details(output.evalue)
            output.traceback = built.brief_traceback(output.ename, output.evalue)
        if "execution_count" in output:
            output.execution_count = 1
        # A live widget needs its kernel; the static form remains.
        output.get("data", {}).pop(WIDGET_MIME, None)
    if VARIES in cell.metadata.tags:
        cell.outputs, cell.execution_count = [], None
    if built.hides_outputs(cell):
        built.hide_outputs(cell)


def _failed(
    notebook: NotebookNode, source_cells: list[SourceCell], error: CellExecutionError
) -> Mistake:
    """Return the mistake of a failed cell, with the line of its source."""
    raising = [
        cell.id
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    failed = raising[-1]  # those above it are meant to raise
    message = f"the cell {failed!r} raised {error.ename}: {error.evalue}"
    # The id of a cell that the build adds, such as a check, begins with its source cell's name.
    for cell in source_cells:
        if failed.startswith((cell.id, str(cell.metadata.get("exercise", cell.id)))):
            return cell.mistake(message)
    return Mistake(source_cells[0].file, 1, message)


def _without_outputs(notebook: NotebookNode) -> list[tuple[Any, ...]]:
    cells = []
    for cell in notebook.cells:
        metadata = {**cell.metadata, built.METADATA_KEY: built.hides_outputs(cell)}
        cells.append((cell.id, cell.cell_type, cell.source, metadata))
    return cells


def _text(notebook: NotebookNode) -> str:
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"
