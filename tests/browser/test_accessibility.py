"""No page of the course breaks a rule of accessibility that axe-core knows, light or dark."""

import nbformat
import pytest

from pytree_course.course import Course, LessonFiles
from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Visit
from tests.conftest import ROOT
from tests.lesson_reads import BROWSER, each_of

pytestmark = pytest.mark.reads(*BROWSER, "notebooks/0[012]*.ipynb", "notebooks/glossary.ipynb")

PAGES = ["00_start_here", "01_leaves", "02_tree_map", "glossary"]


# What is stored is scanned: what widgets look like once they live is scanned where they are used.
@each_of([Course(ROOT).lesson(name) for name in PAGES])
def test_a_pages_outputs_have_no_violations(visit: Visit, files: LessonFiles):
    cells = nbformat.read(files.notebook, as_version=4).cells
    stored = sum(len(cell.get("outputs", ())) for cell in cells)
    assert stored
    visit.lab.draw_all_cells()
    page = visit.open(f"notebooks/{files.stem}.ipynb")
    assert_accessible(page, stored)


def test_an_exercise_notebooks_outputs_have_no_violations(visit: Visit):
    visit.lab.draw_all_cells()
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    exercises.write("count_leaves-answer", "def count_leaves(tree):\n    return len(tree)")
    exercises.write("count_nones-answer", "def count_nones(tree):\n    return tree.nones")
    exercises.run_all()
    exercises.write("leaf_shapes-check", "check.leaf_shapes.hint()\ncheck.leaf_shapes.solution()")
    exercises.run("leaf_shapes-check")
    assert_accessible(exercises, 12)
