"""Every sign is drawn by DejaVu Sans: on some systems, no other font is installed."""

import html
from pathlib import Path
from unicodedata import category

import matplotlib
from matplotlib.ft2font import FT2Font

from tests.conftest import ROOT

FONT = FT2Font(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"))
SHOWN = (".ipynb", ".json", ".py", ".html", ".md", ".txt", ".toml", ".css", ".xml")
FOLDERS = ("notebooks", "solutions", "checks/expected", "src/pytree_course")
ONLY_LOOKED_FOR = {"texts.py", "csv_tables.py"}
"""Modules with characters that nobody is shown."""


def without_glyph(text):
    """Return the characters, also those written as HTML entities, that the font does not have."""
    shown = {sign for sign in {*text, *html.unescape(text)} if category(sign) != "Cc"}
    return {f"{sign} U+{ord(sign):04X}" for sign in shown if not FONT.get_char_index(ord(sign))}


def test_every_sign_has_a_glyph():
    assert without_glyph("a ◇ ✓\n") == set()
    assert without_glyph("⟐ &#10192;") == {"⟐ U+27D0"}
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("[!.]*.*")]
    for file in files:
        if file.suffix in SHOWN and file.name not in ONLY_LOOKED_FOR:
            assert without_glyph(file.read_text(encoding="utf-8")) == set(), file
