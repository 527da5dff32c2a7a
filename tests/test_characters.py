"""Every sign is drawn by DejaVu Sans: on some systems, no other font is installed."""

import ast
import html
import json
from pathlib import Path
from unicodedata import category

import matplotlib
import pytest
from matplotlib.ft2font import FT2Font

from tests.conftest import ROOT

FONT = FT2Font(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"))
NEVER_SHOWN = {"printable.py", "reports/spreadsheets.py"}
"""Modules with characters that only they look for."""

NOTEBOOKS = [
    file
    for folder in ("notebooks", "exercises", "solutions", "checks/expected")
    for file in sorted((ROOT / folder).glob("*.ipynb"))
]
PACKAGE = ROOT / "src" / "pytree_course"


def without_glyph(text: str) -> set[str]:
    """Return the characters, also those written as HTML entities, that the font does not have."""
    shown = {each for each in text + html.unescape(text) if category(each) != "Cc"}
    return {f"{each} U+{ord(each):04X}" for each in shown if not FONT.get_char_index(ord(each))}


def texts(value) -> str:
    """Return all texts in what was read from JSON, one after the other."""
    if isinstance(value, dict):
        return "".join(map(texts, [*value, *value.values()]))
    if isinstance(value, list):
        return "".join(map(texts, value))
    return str(value)


def test_a_character_that_would_be_an_empty_box_is_found():
    assert without_glyph("a ◇ ✓\n") == set()
    assert without_glyph("⟐ &#10192;") == {"⟐ U+27D0"}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_notebooks_and_their_outputs(file):
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    # An exercise notebook may hold somebody's own work, which is no business of this test.
    if file.parent.name == "exercises":
        cells = [cell for cell in cells if cell["cell_type"] == "markdown"]
    shown = [[cell["source"], cell["metadata"], cell.get("outputs", [])] for cell in cells]
    assert without_glyph(texts(shown)) == set()


@pytest.mark.parametrize(
    "file", sorted((ROOT / "checks" / "expected").glob("*.json")), ids=lambda file: file.name
)
def test_hints_explanations_and_what_is_expected(file):
    assert without_glyph(texts(json.loads(file.read_text(encoding="utf-8")))) == set()


@pytest.mark.parametrize("ending", ["*.html", "*.md", "*.txt", "*.css", "*.xml"])
def test_templates(ending):
    for file in PACKAGE.rglob(ending):
        assert without_glyph(file.read_text(encoding="utf-8")) == set(), file


def test_texts_in_the_code():
    for file in PACKAGE.rglob("*.py"):
        if file.relative_to(PACKAGE).as_posix() in NEVER_SHOWN:
            continue
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        said = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert without_glyph("".join(said)) == set(), file
