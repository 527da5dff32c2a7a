"""Exercises that stand in a lesson: practice, with the machinery of all exercises, no points."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from pytree_course.course import PROGRESS_VARIABLE, Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import standing
from pytree_course.sources.exercises import PLACEHOLDER
from tests.conftest import ROOT
from tests.kernels import running_kernel

LESSON = Course(ROOT).lesson("01_leaves")
BUILT = BuiltLesson.read(LESSON.expected)
PRACTICE = [name for name, each in BUILT.exercises.items() if each.is_practice]
OPENS_ONE_LEVEL = """\
def leaves_of(tree):
    if isinstance(tree, dict):
        return list(tree.values())
    return list(tree) if isinstance(tree, (list, tuple)) else [tree]
"""


def cells_of(file: Path) -> dict[str, NotebookNode]:
    return {cell.id: cell for cell in nbformat.read(file, as_version=4).cells}


CELLS = cells_of(LESSON.notebook)


def test_the_notebook_has_the_starter_the_check_and_our_version_folded():
    ids = [*CELLS]
    prompt = CELLS[ids[ids.index("leaves_of-answer") - 1]].source
    assert prompt.startswith("✎")
    assert "*Practice, no points · ★☆☆ · about 4 minutes." in prompt
    assert PLACEHOLDER in CELLS["leaves_of-answer"].source
    assert CELLS["leaves_of-check"].source == "check.leaves_of(leaves_of)"
    assert "isinstance" in CELLS["leaves_of-ours"].source
    assert CELLS["leaves_of-ours"].metadata.jupyter.source_hidden


@pytest.mark.slow
def test_a_wrong_answer_is_explained_and_a_right_one_is_progress_without_points(tmp_path):
    imports = next(each for each in CELLS if "Checks(" in CELLS[each].source)
    with running_kernel(LESSON.notebook.parent, **{PROGRESS_VARIABLE: str(tmp_path)}) as run:
        run(CELLS[imports].source)
        run(CELLS["leaves_of-answer"].source)
        skipped = run(CELLS["leaves_of-check"].source)
        assert "Not attempted" in skipped and "leaves_of · practice" in skipped
        run(OPENS_ONE_LEVEL)
        assert "you open only the outermost one" in run(CELLS["leaves_of-check"].source)
        run(CELLS["leaves_of-ours"].source)
        right = run(CELLS["leaves_of-check"].source)
        assert "✓ Correct" in right
        assert "Go on reading below" in right  # the next exercise stands sections further down
    assert "Next: Write leaves_of (practice, about " in str(standing(BUILT, Progress(None)))
    progress = Progress.load(tmp_path / "progress.jsonl")
    assert progress.in_exercise("01_leaves", "leaves_of").correct
    solved = f"0 of {len(BUILT.graded)} exercises, 0 of {BUILT.points} points"
    now = str(standing(BUILT, progress))
    assert now.startswith(f"{solved}, practice 1 of {len(PRACTICE)}")


def test_grading_and_the_exercise_notebooks_do_not_know_it():
    assert LESSON.read_starters().keys() == BUILT.graded.keys()
    for file in (LESSON.exercises, LESSON.blank, LESSON.solutions):
        ids = {f"{name}-answer" for name in BUILT.exercises} & cells_of(file).keys()
        assert ids == {f"{name}-answer" for name in BUILT.graded}
