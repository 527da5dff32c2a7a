"""The course's own lessons: built from their sources as they are, and easy to read."""

import ast
import re
import shutil

import nbformat
import pytest

from pytree_course.authoring import validation
from pytree_course.authoring.building import build, find_stale
from pytree_course.built import METADATA_KEY, hides_outputs, show_outputs
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.notebook.base import WIDGET_MIME
from pytree_course.observing.comparison import agree
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT
from tests.lesson_turns import LESSONS, each_in_turn

PAGES = Course(ROOT).lessons_and_pages()  # the lessons, and pages such as the start page
each_lesson = pytest.mark.parametrize("files", LESSONS, ids=lambda files: files.stem)
each_page = pytest.mark.parametrize("files", PAGES, ids=lambda files: files.stem)


def cells_of(files):
    """Return the cells of a lesson's notebooks: of the core and of all deeper sections."""
    notebooks = [nbformat.read(file, as_version=4) for file in files.notebooks()]
    return [cell for notebook in notebooks for cell in notebook.cells]


# --- built from their sources


@each_page
def test_built_files_are_of_the_sources_that_are_there(files):
    assert find_stale(files) == []


@pytest.mark.slow
@each_in_turn(PAGES)
def test_a_lesson_that_is_built_again_is_what_it_was(files, tmp_path, monkeypatch):
    for folder in ("sources", "checks", "notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    again = Course(tmp_path).lesson(files.stem)
    # An author's build proves the answers on fresh cases, too.
    monkeypatch.setattr(validation, "SEEDS", [PUBLIC_SEED])
    build(again, again=True)
    for file in files.notebooks():
        assert outputs(tmp_path / file.relative_to(ROOT)) == outputs(file)
    if files.has_exercises:
        assert again.blank.read_bytes() == files.blank.read_bytes()
        assert outputs(again.solutions) == outputs(files.solutions)
        assert_same_results(BuiltLesson.read(again.expected), BuiltLesson.read(files.expected))


def outputs(file):
    """Return what a notebook's cells show, hidden or not, but for what differs between runs."""
    return {
        cell.id: cell.metadata[METADATA_KEY] if hides_outputs(cell) else cell.outputs
        for cell in nbformat.read(file, as_version=4).cells
        if cell.cell_type == "code" and "nbval-ignore-output" not in cell.metadata.tags
    }


def assert_same_results(now, then):
    """Compare as a check does: floats may differ in their last digits between processors."""
    assert now.exercises.keys() == then.exercises.keys()
    for name in then.exercises:
        right, stored = now.expected(name), then.expected(name)
        assert agree(stored.observations, right.observations), name
        for wrong, known in zip(right.misconceptions, stored.misconceptions, strict=True):
            label = f"{name}: {known.name}"
            assert wrong.observations.keys() == known.observations.keys(), label
            for case, observation in known.observations.items():
                assert agree([observation], [wrong.observations[case]]), f"{label}, case {case}"


@each_lesson
def test_what_is_expected_names_no_address_of_one_run(files):
    for file in (files.expected, *files.expected.with_suffix("").glob("*.json")):
        assert not re.search("0x[0-9a-f]{6}", file.read_text(encoding="utf-8"))


# --- easy to read


@each_page
def test_a_cell_that_should_show_an_error_shows_one(files):
    for cell in cells_of(files):
        if "raises-exception" in cell.metadata.get("tags", []):
            if hides_outputs(cell):
                show_outputs(cell)
            assert "error" in [output.output_type for output in cell.outputs], cell.source


@each_lesson
def test_every_cell_id_is_there_once(files):
    for file in (*files.notebooks(), files.exercises, files.solutions):
        ids = [cell.id for cell in nbformat.read(file, as_version=4).cells]
        assert len(ids) == len(set(ids))


@each_lesson
def test_a_prediction_hides_its_answer_until_the_cell_is_run(files):
    cells = cells_of(files)
    assert WIDGET_MIME not in str([cell.get("outputs") for cell in cells])
    asking = [at for at, cell in enumerate(cells) if cell.source.startswith("◇")]
    assert asking
    for at in asking:
        answer = next(cell for cell in cells[at + 2 :] if cell.cell_type == "code")
        assert answer.outputs == []
        assert hides_outputs(answer)


@each_lesson
def test_explanations_are_short_and_hints_are_graded(files):
    for exercise in read_sources(files).exercises.values():
        assert len(set(exercise.hints)) == len(exercise.hints)
        for wrong in exercise.misconceptions:
            assert 5 <= len(wrong.explanation.split()) <= 60, wrong.name


# --- the last hint of a core exercise is its solution, with `...` for what decides

FENCED = re.compile(r"\s*```python\n(.*\.\.\..*)```\s*", re.DOTALL)


def is_skeleton(hint: str, solution: str) -> bool:
    """Say whether a hint is a solution's code, in which `...` stands for some of it.

    It may stand for an expression, or for one or more statements.
    """
    fenced = FENCED.fullmatch(hint)
    if fenced is None:
        return False
    skeleton = _plain(fenced[1]).split("\n")
    lines = [
        "(?s:.+)" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".+")
        for line in skeleton
    ]
    return re.fullmatch("\n".join(lines), _plain(solution)) is not None


def _plain(code: str) -> str:
    """Write code without comments and docstrings, all in one style."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            del node.body[0]
    return ast.unparse(tree)


@each_lesson
def test_each_core_exercise_ends_its_hints_with_its_own_skeleton(files):
    exercises = read_sources(files).graded.values()
    core = [each for each in exercises if each.core and not each.is_prediction]
    for exercise in core:
        fits = [each for each in core if is_skeleton(exercise.hints[-1], each.solution.source)]
        assert fits == [exercise], exercise.name
