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
NEVER_SHOWN = {"texts.py", "reports/csv_tables.py"}
"""Modules with characters that only they look for."""

PACKAGE = ROOT / "src" / "pytree_course"
SHOWN = (".ipynb", ".json", ".py", ".html", ".md", ".txt", ".toml", ".css", ".xml")
FILES = [
    file
    for folder in ("notebooks", "exercises", "solutions", "checks/expected", "src/pytree_course")
    for file in sorted((ROOT / folder).rglob("[!.]*.*"))
    if file.suffix in SHOWN and file not in [PACKAGE / name for name in NEVER_SHOWN]
]


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


def shown_in(file: Path) -> str:
    """Return the texts of a file that somebody sees."""
    if file.suffix == ".py":
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        return "".join(str(node.value) for node in nodes if isinstance(node, ast.Constant))
    if file.suffix not in (".ipynb", ".json"):
        return file.read_text(encoding="utf-8")
    content = json.loads(file.read_text(encoding="utf-8"))
    if file.suffix == ".json":
        return texts(content)
    cells = content["cells"]
    # An exercise notebook may hold somebody's own work, which is no business of this test.
    if file.parent.name == "exercises":
        cells = [cell for cell in cells if cell["cell_type"] == "markdown"]
    return texts([[cell["source"], cell["metadata"], cell.get("outputs", [])] for cell in cells])


def test_a_character_that_would_be_an_empty_box_is_found():
    assert without_glyph("a ◇ ✓\n") == set()
    assert without_glyph("⟐ &#10192;") == {"⟐ U+27D0"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_sign_has_a_glyph(file):
    assert without_glyph(shown_in(file)) == set()
