"""The README's pictures, screenshots of JupyterLab, show what the notebooks show today."""

import io
import os
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.browser.lab import Notebook, Visit
from tests.conftest import ROOT

SCREENSHOTS = "PYTREE_COURSE_SCREENSHOTS"
"""Environment variable that names the folder to write the pictures to."""

TEXT = "Description"
"""The entry of a picture's metadata with the text that it shows."""

RENEW = f"{SCREENSHOTS}=docs/images python3 course.py test -k readme_picture"

WRONG = "def count_leaves(tree):\n    return len(tree)"  # it does not give the answer away


def assert_pictured(notebook: Notebook, name: str, first: str, last: str) -> None:
    """Compare the text of the cells from first to last with that of a picture; or take it."""
    shown = notebook.page.evaluate(
        """([first, last]) => {
            const cells = [...document.querySelectorAll('[data-cell-id]')];
            const at = id => cells.findIndex(cell => cell.dataset.cellId === id);
            return cells.slice(at(first), at(last) + 1).map(cell => cell.innerText);
        }""",
        [first, last],
    )
    text = " ".join(" ".join(shown).split())
    assert f"](docs/images/{name}.png)" in (ROOT / "README.md").read_text(encoding="utf-8")
    if folder := os.environ.get(SCREENSHOTS):
        take(notebook, Path(folder) / f"{name}.png", first, last, text)
    with Image.open(ROOT / "docs" / "images" / f"{name}.png") as picture:
        assert picture.info[TEXT] == text, f"The picture is not of today. Renew it: {RENEW}"


def take(notebook: Notebook, file: Path, first: str, last: str, text: str) -> None:
    """Write a screenshot of cells, which have to fit into the window, with their text."""
    top, bottom = (notebook.cell(each).bounding_box() for each in (first, last))
    assert top is not None and bottom is not None
    height = bottom["y"] + bottom["height"] - top["y"]
    screenshot = notebook.page.screenshot(
        clip={"x": top["x"], "y": top["y"], "width": top["width"], "height": height}
    )
    metadata = PngInfo()
    metadata.add_text(TEXT, text)
    with Image.open(io.BytesIO(screenshot)) as picture:
        picture.save(file, pnginfo=metadata)


@pytest.mark.thorough
def test_the_readme_picture_of_feedback(visit: Visit):
    visit.page.set_viewport_size({"width": 1180, "height": 1400})
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    exercises.write("count_leaves-answer", WRONG)
    exercises.run("setup", "count_leaves-answer", "count_leaves-check")
    assert exercises.output("count_leaves-check").get_by_role("img").count() > 0
    assert_pictured(exercises, "feedback", "count_leaves-answer", "count_leaves-check")


@pytest.mark.thorough
def test_the_readme_picture_of_a_lesson(visit: Visit):
    visit.page.set_viewport_size({"width": 1180, "height": 1400})
    lesson = visit.open("notebooks/01_leaves.ipynb")
    assert lesson.output("picture-of-params").get_by_role("img").count() == 1
    assert_pictured(lesson, "lesson", "leaves-of-params", "picture-of-params")
