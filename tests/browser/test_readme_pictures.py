"""The pictures of README.md: a check's feedback and a part of a lesson, in JupyterLab."""

import os
from pathlib import Path

import pytest

from tests.browser.lab import Notebook, Visit
from tests.conftest import ROOT

SCREENSHOTS = "PYTREE_COURSE_SCREENSHOTS"
"""Environment variable that names the folder for the pictures; without it none are kept."""

WRONG = "def count_leaves(tree):\n    return len(tree)"  # nothing that gives the answer away


def keep(notebook: Notebook, name: str, first: str, last: str) -> None:
    """Keep a picture of the cells from the first to the last, which have to fit into the window."""
    folder = os.environ.get(SCREENSHOTS)
    if not folder:
        return
    notebook.cell(last)
    top = notebook.cell(first).bounding_box()
    bottom = notebook.page.locator(f'[data-cell-id="{last}"]').bounding_box()
    assert top is not None
    assert bottom is not None
    height = bottom["y"] + bottom["height"] - top["y"]
    notebook.page.screenshot(
        path=Path(folder) / f"{name}.png",
        clip={"x": top["x"], "y": top["y"], "width": top["width"], "height": height},
    )


@pytest.mark.thorough
def test_the_readme_picture_of_feedback(visit: Visit):
    visit.page.set_viewport_size({"width": 1180, "height": 1400})
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    exercises.write("count_leaves-answer", WRONG)
    exercises.run("setup", "count_leaves-answer", "count_leaves-check")
    shown = exercises.output_text("count_leaves-check")
    assert "Your results are those of len" in shown
    assert exercises.output("count_leaves-check").get_by_role("img").count() > 0
    keep(exercises, "feedback", "count_leaves-answer", "count_leaves-check")


@pytest.mark.thorough
def test_the_readme_picture_of_a_lesson(visit: Visit):
    visit.page.set_viewport_size({"width": 1180, "height": 1400})
    lesson = visit.open("notebooks/01_leaves.ipynb")
    assert lesson.output("picture-of-params").get_by_role("img").count() == 1
    keep(lesson, "lesson", "picture-of-params", "what-jax-sees-7")


def test_both_pictures_are_there_and_described():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("feedback", "lesson"):
        assert (ROOT / "docs" / "images" / f"{name}.png").stat().st_size > 10_000
        assert f"](docs/images/{name}.png)" in readme
