"""What is written of the corpus is well formed, and nothing in it is taken for more than text."""

import csv
import io
import unicodedata
from xml.etree import ElementTree

import pytest

from tests.lesson_reads import CLASS
from tests.test_pages import assert_harmless

pytestmark = [pytest.mark.slow, pytest.mark.reads("tests/hostile", *CLASS)]

NUMBER = "+-.0123456789"
FORMULA_STARTS = "=+-@\t\r\n;＝＋－＠"
LARGEST_PAGE = 5_000_000


def pages(graded):
    files = [graded.into / "report.html", *(graded.into / "students").glob("*.html")]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def test_no_page_runs_or_loads_anything(graded):
    for text in pages(graded).values():
        assert_harmless(text)


def test_every_student_has_one_page_and_none_is_large(graded):
    texts = pages(graded)
    in_report = [name for name in texts if name != "report.html"]
    assert len(in_report) >= len({name for name, _ in graded.attempts})
    assert {name: len(text) for name, text in texts.items() if len(text) > LARGEST_PAGE} == {}


def test_no_field_of_a_table_is_a_formula_or_goes_over_its_line(graded):
    for file in graded.into.glob("*.csv"):
        text = file.read_bytes().decode("utf-8-sig")
        rows = [*csv.reader(io.StringIO(text, newline=""), strict=True)]
        assert len({len(row) for row in rows}) == 1, file.name
        assert len(rows) == len(text.splitlines()), file.name
        for field in (field for row in rows for field in row):
            is_number = field and all(character in NUMBER for character in field)
            assert is_number or not field.lstrip(" ").startswith((*FORMULA_STARTS,)), field
            assert all(unicodedata.category(each) not in ("Cc", "Cs") for each in field), field


def test_junit_is_well_formed(graded):
    root = ElementTree.parse(graded.into / "junit.xml").getroot()
    assert len(root.findall("testsuite")) == len(graded.attempts)


def test_the_terminal_is_given_no_escapes(graded):
    printed = graded.done.stdout + graded.done.stderr
    hidden = {each for each in printed if unicodedata.category(each) in ("Cc", "Cf", "Cs")}
    assert hidden <= {"\n", "\r", "\t"}
