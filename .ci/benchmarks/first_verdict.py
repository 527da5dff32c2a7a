"""From opening an exercise notebook to the first verdict: python .ci/benchmarks/first_verdict.py

In a real browser, as a learner sees it: JupyterLab is running, lesson 1's exercises are opened, and
the set-up, answer and check cells are run one after the other. Clock time, of a first visit and of
later ones; the machine should be quiet.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2]))  # the tests know how to use JupyterLab

from tests.browser.conftest import FLAGS
from tests.browser.lab import Lab, Visit

VISITS = 3
CELLS = ("setup", "count_leaves-answer", "count_leaves-check")
RIGHT = "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))"


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long an action takes, and its result."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def first_verdict(lab: Lab, browser: Browser) -> dict[str, float]:
    """Open the exercises with a browser that remembers nothing; return the seconds of each step."""
    lab.start_afresh()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visit = Visit(lab, context.new_page())
    times = {}
    times["open, kernel ready"], exercises = seconds(
        lambda: visit.open("exercises/01_leaves_exercises.ipynb")
    )
    exercises.write("count_leaves-answer", RIGHT)
    for cell in CELLS:
        times[cell], _ = seconds(partial(exercises.run, cell))
    assert "Correct" in exercises.output_text(CELLS[-1])
    context.close()
    return times


def main() -> None:
    """Print a table in Markdown."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with (
        tempfile.TemporaryDirectory() as folder,
        Lab(Path(folder)) as lab,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        first, *later = [first_verdict(lab, browser) for _ in range(VISITS)]
        browser.close()
    print("| step | first visit | later, median |\n|---|---|---|")
    for step, taken in first.items():
        print(
            f"| {step} | {taken:.2f} s | {statistics.median(each[step] for each in later):.2f} s |"
        )
    whole = [sum(each.values()) for each in (first, *later)]
    print(f"| to the first verdict | {whole[0]:.2f} s | {statistics.median(whole[1:]):.2f} s |")


if __name__ == "__main__":
    main()
