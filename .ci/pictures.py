"""Take the README's pictures again, in JupyterLab: python .ci/pictures.py

They show no answer of a prediction, and no right answer of an exercise.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import FloatRect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.lab import Lab, Notebook, Visit  # noqa: E402

EXERCISES, LESSON = "exercises/01_leaves_exercises.ipynb", "notebooks/01_leaves.ipynb"
WRONG = "def count_leaves(tree):\n    return len(tree)"
RUN_BEFORE = (
    *("lesson-1-leaves-what-does-jax-see-when-i-hand-it-thi-3", "a-program-that-reads-digits-2"),
    *("leaves_of-ours", "how-many-leaves-2", "a-missing-bias-2", "a-missing-bias-3-predict"),
)


def main() -> None:
    """Take both pictures."""
    with TemporaryDirectory() as folder, Lab(Path(folder)) as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        visit = Visit(lab, browser.new_page(viewport={"width": 1180, "height": 2400}))
        lab.draw_all_cells()
        exercises = visit.open(EXERCISES)
        exercises.write("count_leaves-answer", WRONG)
        exercises.run("setup", "count_leaves-answer", "count_leaves-check")
        take(exercises, "feedback", "count_leaves-answer", "count_leaves-check")
        lesson = visit.open(LESSON)
        lesson.run(*RUN_BEFORE)
        take(lesson, "lesson", "how-many-leaves-1", "a-missing-bias-3-predict")
        browser.close()


def take(notebook: Notebook, name: str, first: str, last: str) -> None:
    """Write a picture of the cells from one to another, as they are while no cell is active."""
    page = notebook.page
    page.wait_for_timeout(2000)  # until widgets are drawn, and have the focus
    notebook.choose("installed")
    top, bottom = notebook.cell(first).bounding_box(), notebook.cell(last).bounding_box()
    assert top and bottom
    height = bottom["y"] + bottom["height"] - top["y"]
    clip = FloatRect(x=top["x"], y=top["y"], width=top["width"], height=height)
    page.screenshot(path=ROOT / "docs/images" / f"{name}.png", clip=clip)


if __name__ == "__main__":
    main()
