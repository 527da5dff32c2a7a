"""No page of the course breaks a rule of accessibility that axe-core knows, light or dark."""

import nbformat
import pytest

from tests.browser.accessibility import violations
from tests.browser.lab import Visit

THEMES = ["JupyterLab Light", "JupyterLab Dark"]


# What is stored is scanned: what widgets look like once they live is scanned where they are used.
@pytest.mark.parametrize("name", ["00_start_here", "01_leaves", "02_tree_map", "glossary"])
def test_a_pages_outputs_have_no_violations(visit: Visit, name: str):
    path = f"notebooks/{name}.ipynb"
    cells = nbformat.read(visit.lab.root / path, as_version=4).cells
    stored = sum(len(cell.get("outputs", ())) for cell in cells)
    assert stored
    visit.lab.draw_all_cells()
    page = visit.open(path)
    for theme in THEMES:
        found = violations(page, theme, stored)
        assert not found, "\n".join(found)


def test_an_exercise_notebooks_outputs_have_no_violations(visit: Visit):
    visit.lab.draw_all_cells()
    exercises = visit.open("exercises/01_leaves.ipynb")
    exercises.write("count_leaves-answer", "def count_leaves(tree):\n    return len(tree)")
    exercises.write("count_nones-answer", "def count_nones(tree):\n    return tree.nones")
    exercises.run_all()
    exercises.write("leaf_shapes-check", "check.leaf_shapes.hint()\ncheck.leaf_shapes.solution()")
    exercises.run("leaf_shapes-check")
    for theme in THEMES:
        found = violations(exercises, theme, 12)
        assert not found, "\n".join(found)
