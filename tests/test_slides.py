"""A lesson is also a deck: nbconvert makes slides that a teacher can present."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat

from pytree_course.authoring.notebooks import OUTPUT_LINES, SLIDE_LINES, slide_types
from pytree_course.notebook import NAMES
from pytree_course.notebook.slides import ShowAnswers
from pytree_course.sources.source_cells import SourceCell, with_closed_answer


def cell(cell_id, source, kind="markdown", **metadata):
    return SourceCell(kind, source, metadata, Path("lesson.md"), 1, cell_id)


def test_sections_predictions_and_answers_have_steps_of_their_own():
    cells = [
        cell("title", "# Lesson"),
        cell("section", "## Section"),
        cell("text", "Short."),
        cell("question", "◇ **Predict.** What?"),
        cell("answer", "1 + 1", "code", prediction="2"),
        cell("why", "Because."),
    ]
    assert slide_types(cells) == {
        "title": "slide",
        "section": "slide",
        "question": "subslide",
        "answer": "fragment",
    }


def test_a_slide_that_would_get_too_tall_goes_on_below():
    code = "\n".join(["x = 1"] * (SLIDE_LINES // 2))
    cells = [cell("section", "## Section"), *(cell(f"code-{n}", code, "code") for n in range(3))]
    types = slide_types(cells)
    assert types["code-1"] == types["code-2"] == "subslide"
    assert OUTPUT_LINES.keys() - {"print"} < NAMES.keys()


def test_the_deck_shows_each_answer_and_no_widget_to_click_on(mini, tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "slides", "--output-dir", tmp_path]
    done = subprocess.run([*command, mini.notebook], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    slides = (tmp_path / "01_mini.slides.html").read_text(encoding="utf-8")
    assert "predict(" not in slides
    assert "Run this cell" not in slides
    assert re.search(r"<pre>3\s*</pre>", slides)
    assert "Going deeper" in slides


def test_a_slide_unfolds_what_the_reader_of_a_notebook_opens():
    cell = nbformat.v4.new_markdown_cell(with_closed_answer("**C.** Three."))
    shown, _ = ShowAnswers().preprocess(nbformat.v4.new_notebook(cells=[cell]), {})
    assert shown.cells[0].source == "**C.** Three."
