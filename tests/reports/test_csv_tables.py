"""The tables of a class: whole for honest names, no formula for hostile ones, and importable."""

import csv
import io
import re
from dataclasses import replace
from datetime import timedelta
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pytree_course.class_grading.attempt import AppliedCorrection, AttemptState
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.class_grading.gradebook import Memory
from pytree_course.class_grading.roster import Student
from pytree_course.reports.csv_tables import (
    canvas_csv,
    exercises_csv,
    explain_import_gaps,
    grades_csv,
    moodle_csv,
    plain_text,
    to_csv,
    write_tables,
)
from pytree_course.texts import write_file
from tests.made_grades import BASIS, NOON, made_attempt, made_grades, made_lesson, made_row

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
        moment = NOON.replace(microsecond=500_000)
        attempts.append(made_attempt(name, [row], reason=name, handed_in=moment))
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
        Student("Dan", system=MOODLE),
    ]
    grades = made_grades([], students=students)
    rows = read(canvas_csv(grades))[2:]
    assert [row[:4] for row in rows] == [["'=1", "12", "", ""], ["cyd", "", "", "cyd"]]
    assert [row[0] for row in read(moodle_csv(grades))[1:]] == ["cyd"]
    moodles, canvass = explain_import_gaps(grades)
    assert "for Moodle's downloads do not say usernames: Dan. With" in moodles
    assert canvass.startswith("Not in canvas.csv, for Canvas did not say who it is: Bob (13).")


@pytest.mark.parametrize(
    ("columns", "title"),
    [
        (["Homework 1 (91)", "Talk 2 (92)", "Week 1, part 2 (93)"], "Homework 1 (91)"),
        (["All of LESSON 01_MADE, part 7 (3)"], "All of LESSON 01_MADE, part 7 (3)"),
        (["Homework 1 (91)", "Quiz 01 (92)"], "Lesson 01_made"),
        (["Homework 2 (1)"], "Lesson 01_made"),
    ],
)
def test_a_lesson_has_the_column_of_canvass_that_has_its_title_or_its_number_alone(columns, title):
    grades = replace(
        made_grades([]), lessons=[made_lesson()], memory=Memory(canvas_columns=columns)
    )
    assert read(canvas_csv(grades))[0][5:] == [title]
    unknown = "could be Lesson 01_made: Canvas will ask" in " ".join(explain_import_gaps(grades))
    assert unknown == (title == "Lesson 01_made")


def test_a_line_says_the_state_the_cases_the_time_and_how_late_it_was():
    row = made_row("count", "correct")
    public = structs.replace(row, basis=structs.replace(BASIS, on_public_cases=True))
    attempts = [
        made_attempt("ada", [row]),
        made_attempt("bob", [row], system=CANVAS),
        made_attempt("cyd", [], state=AttemptState.FAILED),
        made_attempt("dan", [public]),
    ]
    students = [*map(Student, ("ada", "bob", "cyd", "dan", "eve"))]
    grades = made_grades(attempts, students=students, due=NOON - timedelta(minutes=90))
    heading, *rows = read(grades_csv(grades))
    asked = [
        heading.index(name) for name in ("points", "state", "cases", "handed_in", "late_hours")
    ]
    noon = "2026-03-02T12:00:00+00:00"
    assert [[row[at] for at in asked] for row in rows] == [
        ["2", "graded", "fresh", noon, "1.5"],
        ["2", "graded", "fresh", "", ""],  # a download has its own time
        ["", "failed", "", noon, "1.5"],
        ["2", "graded", "public", noon, "1.5"],
        ["0", "not handed in", "", "", ""],
    ]


def test_a_teachers_points_stand_beside_those_of_the_check():
    row, earlier = (
        made_row("count", "correct", teacher=AppliedCorrection("Nearly.", 1, is_for_this))
        for is_for_this in (True, False)
    )
    grades = made_grades([made_attempt("ada", [row, earlier, made_row("paths", None)])])
    heading, *rows = read(exercises_csv(grades))
    asked = [heading.index(name) for name in ("verdict", "points", "points_by_check", "corrected")]
    assert [[row[at] for at in asked] for row in rows] == [
        ["correct", "2", "1", "yes"],
        ["correct", "2", "1", "for an earlier answer"],
        ["graded", "0", "0", "no"],
    ]


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
