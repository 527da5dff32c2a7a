"""A lesson is also a deck: nbconvert makes slides that a teacher can present."""

import re
import subprocess
import sys
from pathlib import Path

from pytree_course.authoring.slides import SLIDE_LINES, slide_types
from pytree_course.authoring.source_cells import SourceCell


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


def test_the_deck_shows_each_answer_and_no_widget_to_click_on(mini, tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "slides", "--output-dir", str(tmp_path)]
    done = subprocess.run([*command, str(mini.notebook)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    deck = (tmp_path / "01_mini.slides.html").read_text(encoding="utf-8")
    assert "predict(" not in deck
    assert "Run this cell" not in deck
    assert re.search(r"<pre>3\s*</pre>", deck)
