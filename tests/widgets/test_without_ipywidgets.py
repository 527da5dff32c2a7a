"""Where ipywidgets cannot be imported: still pictures, and everything else works."""

import os
import shutil

import ipywidgets
import nbformat
import pytest
from nbclient import NotebookClient

from pytree_course.widgets.base import WIDGET_MIME
from pytree_course.widgets.controls import StillChoice, still_control
from tests.conftest import ROOT

NO_IPYWIDGETS = "import sys\nsys.modules['ipywidgets'] = None\n"
LESSON = "01_leaves.ipynb"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook where no learner has begun, and return its cells; an error fails the test."""
    (tmp_path / "sitecustomize.py").write_text(NO_IPYWIDGETS, encoding="utf-8")
    monkeypatch.setitem(os.environ, "PYTHONPATH", str(tmp_path))
    shutil.copytree(ROOT / "checks", tmp_path / "checks")

    def run(folder: str) -> list[nbformat.NotebookNode]:
        (tmp_path / folder).mkdir()
        notebook = nbformat.read(ROOT / folder / LESSON, as_version=4)
        where = {"metadata": {"path": tmp_path / folder}}
        NotebookClient(notebook, resources=where, timeout=120).execute()
        return notebook.cells

    return run


def shown(cells: list[nbformat.NotebookNode]) -> list[dict[str, str]]:
    """Return all that cells have shown, in every form that it has."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return [output.data for output in outputs if "data" in output]


def times_said(cells: list[nbformat.NotebookNode]) -> int:
    texts = (" ".join(data["text/plain"].split()) for data in shown(cells))
    return sum("%pip install ipywidgets" in text for text in texts)


@pytest.mark.slow
def test_a_lesson_shows_what_is_stored_beside_its_widgets(run):
    cells = run("notebooks")
    assert times_said(cells) == 1
    assert not any(WIDGET_MIME in data for data in shown(cells))
    built = nbformat.read(ROOT / "notebooks" / LESSON, as_version=4).cells
    stored = {data["text/html"] for data in shown(built) if "text/html" in data}
    assert len(stored) > 10
    assert stored <= {data["text/html"] for data in shown(cells) if "text/html" in data}


@pytest.mark.slow
def test_exercises_and_their_feedback_work(run):
    cells = run("exercises")
    assert times_said(cells) == 0  # all that buttons do can be asked for in code
    assert "0 of 11 exercises" in str(shown(cells)[0])
    checks = [cell for cell in cells if cell.id.endswith("-check")]
    assert len(checks) == 11
    for cell in checks:
        assert len(shown([cell])) == 1  # the feedback, without buttons
        text = shown([cell])[0]["text/plain"]
        assert text.startswith("○ Not attempted") or ".hint()`" in text  # by code, not by button


@pytest.mark.parametrize(
    ("short", "value"),
    [(3, 3), (2.5, 2.5), (True, True), ("text", "text"), ((1, 8), 1), ((0.0, 1.0, 0.3), 0.0)],
)
def test_a_still_control_has_a_value(short, value):
    assert ipywidgets.interactive.widget_from_abbrev(short) is not None
    assert still_control(short).value == value


@pytest.mark.parametrize("options", [[2, "three"], {"two": 2, "three": 3}, [("two", 2)]])
def test_a_still_choice_begins_with_its_first_option(options):
    real, still = ipywidgets.ToggleButtons(options=options), StillChoice(options)
    for trait in ("value", "index", "_options_values"):
        assert getattr(still, trait) == getattr(real, trait)
    assert len(still.options) == len(real.options)


@pytest.mark.parametrize("short", [None, object(), ("a", "b"), (1, 2, 3, 4)])
def test_what_is_no_control_stays_none(short):
    assert still_control(short) is None
