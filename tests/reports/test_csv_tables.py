"""The tables of a class: whole for honest names, no formula for hostile ones, and importable."""

import csv
import io
import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.downloads import CANVAS
from pytree_course.class_grading.roster import Student
from pytree_course.reports.csv_tables import (
    canvas_csv,
    explain_import_gaps,
    moodle_csv,
    plain_text,
    to_csv,
    write_tables,
)
from pytree_course.texts import write_file
from tests.made_grades import NOON, made_attempt, made_grades, made_row

HONEST = [
    "Jürgen Müller",
    "Bob O'Brien-Ray",
    'Anna "Ann" Lee',
    "Ray, Bob",
    "王小明",
    "Zoë 👩‍🔬",
    "محمد‌رضا",  # with a zero width non-joiner
    "d'Arc; Jeanne",
    "a=b",
    "ada+exam@example.org",
]
HOSTILE = [
    *("a;=1", "a; =1", 'a;"=1"', 'a;""=1', '=1+2";=1+2', "=1+2'\" ;,=1+2"),
    *("=1+1", "+1", "-1+1", "@SUM(A1)", "  =1", "\t=1", "\r=1", "\r\n=1", "\x00=1", "\ufeff=1"),
    '=HYPERLINK("http://x";"y")\n=cmd|\'/c calc\'!A0',
    "\x1b]0;title\x07",
    "\u202eevil",
    "\ud800",
]
SIGNS = "=+@-"
TEXTS = st.one_of(
    st.text(),
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from([*SIGNS, *";\t\n\r\", '1\u200c\u200d\x00\u2028"])).map("".join),
)


def read(text, **how):
    return [*csv.reader(io.StringIO(text, newline=""), **how)]


def hidden(text):
    """Return what cannot be seen in a table: controls, overrides, half characters."""
    seen = re.sub("\r\n|[\u200c\u200d]", "", text)
    return [each for each in seen if category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def strange_class(names):
    """Return a class in which every text that a student has a say in is one of the names."""
    attempts = []
    for name in names:
        row = made_row("count", "incorrect", explanation=name, misconceptions=[name])
        attempts.append(made_attempt(name, [row], reason=name))
    return made_grades(attempts, students=[Student(name, name) for name in names])


@given(TEXTS)
def test_a_row_is_one_line_without_a_formula_wherever_a_spreadsheet_splits(text):
    line = to_csv([[text, 3]])
    for separator in ",;\t":
        for cell in (cell for row in read(line, delimiter=separator) for cell in row):
            assert cell.strip('\t "')[:1] not in [*SIGNS]
    assert len(line.splitlines()) == 1
    assert line.startswith('"')
    assert line.endswith('","3"\r\n')
    assert not hidden(line)
    ((cell, number),) = read(line)
    assert number == "3"
    assert plain_text(cell) == cell
    line.encode()


def test_honest_names_come_back_from_every_table_as_they_are(tmp_path):
    assert write_tables(strange_class(HONEST), tmp_path) == []
    found = {file.name: file.read_bytes().decode() for file in tmp_path.glob("*.csv")}
    heading, *grades = read(found["grades.csv"])
    column = {name: [row[at] for row in grades] for at, name in enumerate(heading)}
    assert column["student"] == column["name"] == column["reason"] == HONEST
    assert column["points"] == ["0"] * len(HONEST)
    assert all(NOON.isoformat(timespec="seconds") in row for row in grades)
    heading, *exercises = read(found["exercises.csv"])
    feedback = [row[heading.index("feedback")] for row in exercises]
    assert [row[0] for row in exercises] == feedback == HONEST


def test_only_students_with_an_id_or_login_are_imported():
    students = [
        Student("12", "=1", CANVAS, "12"),
        Student("13", "Bob", CANVAS),
        Student("cyd", login="cyd"),
    ]
    grades = made_grades([], students=students)
    rows = read(canvas_csv(grades))[2:]
    assert [row[:4] for row in rows] == [["'=1", "12", "", ""], ["cyd", "", "", "cyd"]]
    assert [row[0] for row in read(moodle_csv(grades))[1:]] == ["cyd"]
    (warning,) = explain_import_gaps(grades)
    assert warning.startswith("Not in canvas.csv, for Canvas did not say who it is: Bob (13).")


@pytest.mark.parametrize(("state", "points"), [("failed", ""), ("unreadable", "0")])
def test_a_failure_that_is_not_the_students_leaves_the_grade_in_canvas(state, points):
    attempt = made_attempt("ada", [], state=AttemptState(state))
    grades = made_grades([attempt], students=[Student("ada", login="ada")])
    *_, row = read(canvas_csv(grades))
    assert row[3:] == ["ada", "", points]
    # To Moodle an empty cell is no grade: it would remove the one that is there.
    assert read(moodle_csv(grades))[1:] == ([["ada", points]] if points else [])
    assert ("Grade again." in " ".join(explain_import_gaps(grades))) is (not points)


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    file = tmp_path / "grades.csv"
    write_file(file, "old")
    with pytest.raises(UnicodeEncodeError):  # as far as it got, the new text is nowhere
        write_file(file, "new" * 10**5 + "\ud800")
    assert file.read_text() == "old"
    assert [*tmp_path.iterdir()] == [file]
