"""Build a lesson from its sources: notebooks, exercises, solutions and checks/expected."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from pytree_course import built
from pytree_course.authoring.notebooks import render_exercises, render_notebooks
from pytree_course.authoring.validation import find_mistakes_in_answers, find_mistakes_in_text
from pytree_course.course import NOBODY_VARIABLE, LessonFiles
from pytree_course.judging.expected import BuiltLesson
from pytree_course.notebook.base import WIDGET_MIME
from pytree_course.released_files import hand_out
from pytree_course.sources.authors_answers import expect_lesson
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from pytree_course.sources.source_cells import AuthorMistakesError, SourceCell
from pytree_course.texts import write_file

CELL_TIMEOUT_SECONDS = 300
VARIES = "varies"
"""Tag of cells whose output differs in each run, such as a time: it is not stored."""

NOT_BUILT = "it was not built"
CHANGED_SOURCES = "its sources have changed since it was built"
EDITED = "it was edited by hand; change the sources instead"
EDITED_OUTPUTS = "its outputs were edited by hand or by running it (`git restore` brings them back)"

Tell = Callable[[str], None]


def build(files: LessonFiles, tell: Tell = lambda message: None, *, again: bool = False) -> bool:
    """Build the stale files of a lesson; return whether any in checks/expected has changed.

    These hold facts such as minutes and points, which other pages show. With `again`, up-to-date
    files are built as well, as a change of the engine may require.

    Raise AuthorMistakesError with file and line of each mistake. No file is written then, except
    for those built before the cell of a notebook raised an error.
    """
    tell("reading the sources")
    sources = read_sources(files)
    if mistakes := find_mistakes_in_text(sources):
        raise AuthorMistakesError(*mistakes)
    has_changed = files.has_exercises and _build_exercises(sources, tell, again=again)
    for file, notebook in render_notebooks(sources).items():
        if again or _why_notebook_is_stale(file, notebook):
            tell(f"running {file.relative_to(files.root).as_posix()}")
            _run_notebook(notebook, file.parent, sources.all_cells)
            write_file(file, _serialise(notebook))
    for orphan in {*files.deeper_notebooks.glob("*.ipynb")} - {*files.notebooks()}:
        tell(f"deleting {orphan.name}, which no longer has a source")
        orphan.unlink()
    return has_changed


def _build_exercises(sources: LessonSources, tell: Tell, *, again: bool) -> bool:
    """Build the stale exercise files; return whether any in checks/expected has changed."""
    files = sources.files
    stored = None if again else _read_results(sources)[0]
    expected = stored or _run_answers(sources, tell)
    has_changed = expected.write(files.expected)
    blank, solved = render_exercises(sources), render_exercises(sources, solved=True)
    if again or not files.exercises.exists() or _why_notebook_is_stale(files.blank, blank):
        kept = hand_out(files, _serialise(blank))
        if kept:
            tell(f"the exercise notebook had answers in it: it is kept as {kept}")
    # A check's feedback on a solution, such as the number of cases, depends on the check script.
    if stored is None or _why_notebook_is_stale(files.solutions, solved):
        tell("running the solutions")
        _run_notebook(solved, files.solutions.parent, sources.exercise_cells)
        write_file(files.solutions, _serialise(solved))
    return has_changed


def _read_results(sources: LessonSources) -> tuple[BuiltLesson | None, str | None]:
    """Return the stored results, with the sources' facts, and why their file is stale.

    There are no results if the answers have to run again.
    """
    files = sources.files
    if not files.expected.exists():
        return None, NOT_BUILT
    stored = BuiltLesson.read(files.expected)
    if (stored.sources, stored.practice) != (files.exercises_digest(), sources.practice_digest):
        return None, CHANGED_SOURCES
    if stored.results != stored.digest_of_results_on_disk():
        return None, EDITED
    wanted = replace(
        stored,
        title=sources.title,
        sections=sources.sections,
        predictions=sources.predictions,
        exercises=dict(sources.exercises),
        deciding=sources.deciding_digests,
    )
    return wanted, None if wanted.to_text() == stored.to_text() else EDITED


def _run_answers(sources: LessonSources, tell: Tell) -> BuiltLesson:
    tell(f"trying the answers to {len(sources.exercises)} exercises")
    if mistakes := find_mistakes_in_answers(sources):
        raise AuthorMistakesError(*mistakes)
    return expect_lesson(sources)


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
    reasons = {file: _why_notebook_is_stale(file, wanted) for file, wanted in notebooks.items()}
    if files.has_exercises:
        _, reasons[files.expected] = _read_results(sources)
    # The build replaces the exercise notebook, in which somebody may work, only with a new version.
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
        return EDITED_OUTPUTS
    return None


def _run_notebook(notebook: NotebookNode, folder: Path, source_cells: list[SourceCell]) -> None:
    """Run a notebook in a folder, and make its outputs reproducible."""
    folder.mkdir(parents=True, exist_ok=True)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_SECONDS,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    with TemporaryDirectory() as ipython:  # no personal start-up files
        variables = {**os.environ, NOBODY_VARIABLE: "1", "IPYTHONDIR": ipython}
        # The kernel's log would only tell the terminal that it uses local TCP ports.
        try:
            client.execute(stderr=subprocess.DEVNULL, env=variables)
        except CellExecutionError as error:
            failed = [cell for cell in notebook.cells if _shows_error(cell)][-1]
            why = f"the cell {failed.id!r} raised {error.ename}: {error.evalue}"
            _source_of(failed.id, source_cells).refuse(why)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            _make_reproducible(cell)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata[built.METADATA_KEY][built.OUTPUTS] = built.outputs_digest(notebook)


def _shows_error(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.get("outputs", ()))


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


def _source_of(cell_id: str, source_cells: Sequence[SourceCell]) -> SourceCell:
    """Return the source of a cell in a built notebook; the first cell if it has no source."""
    by_name = {str(cell.metadata.get("exercise", cell.id)): cell for cell in source_cells}
    name = re.sub("-(answer|check|ours|predict)$", "", cell_id)
    return by_name.get(cell_id, by_name.get(name, source_cells[0]))


def _without_outputs(notebook: NotebookNode) -> list[tuple[Any, ...]]:
    """Return all of a notebook's cells that its sources determine."""
    cells = []
    for cell in notebook.cells:
        # The course's own entry holds outputs; the sources determine only whether it exists.
        metadata = {**cell.metadata, built.METADATA_KEY: built.hides_outputs(cell)}
        cells.append((cell.id, cell.cell_type, cell.source, metadata))
    return cells


def _serialise(notebook: NotebookNode) -> str:
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"
