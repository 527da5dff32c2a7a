"""An axe-core scan of what the course itself puts on the page: the output areas of its cells."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.lab import Notebook, Visit

OUTPUTS = ".jp-Notebook .jp-OutputArea-output"
THEMES = ["JupyterLab Light", "JupyterLab Dark"]


def violations(notebook: Notebook, theme: str, outputs: int) -> list[str]:
    """Scan all outputs of a notebook, at least so many, and return what is wrong and where."""
    notebook.use_theme(theme)
    notebook.show_all_cells()
    assert notebook.page.locator(OUTPUTS).count() >= outputs
    results = Axe().run(notebook.page, context={"include": [[OUTPUTS]]})
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:300]}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize(
    ("path", "outputs"),
    [
        ("notebooks/00_start_here.ipynb", 2),
        ("notebooks/01_leaves.ipynb", 50),
        ("notebooks/02_tree_map.ipynb", 80),
    ],
)
def test_a_pages_outputs_have_no_violations(visit: Visit, path: str, outputs: int):
    lesson = visit.open(path)
    lesson.run_all()
    for theme in THEMES:
        found = violations(lesson, theme, outputs)
        assert not found, "\n".join(found)


def test_an_exercise_notebooks_outputs_have_no_violations(visit: Visit):
    exercises = visit.open("exercises/01_leaves.ipynb")
    exercises.write("count_leaves-answer", "def count_leaves(tree):\n    return len(tree)")
    exercises.write("count_nones-answer", "def count_nones(tree):\n    return tree.nones")
    exercises.run_all()
    exercises.write("leaf_shapes-check", "check.leaf_shapes.hint()\ncheck.leaf_shapes.solution()")
    exercises.run("leaf_shapes-check")
    for theme in THEMES:
        found = violations(exercises, theme, 12)
        assert not found, "\n".join(found)
