"""What learning platforms make of a class's files: whose each is, read from names alone."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.class_grading.downloads import download_names
from pytree_course.class_grading.roster import RosterEntry, match_roster
from pytree_course.course import CourseError
from tests.conftest import put as put_file
from tests.made_submissions import WORKED_IN, read_class


def put(file):
    return put_file(file, WORKED_IN)


ADA_LOVELACE = ("Ada Lovelace", "", "", "")
NAMES = {
    "lovelaceada_12345_678901_01_x-1.ipynb": ("12345", "lovelaceada", "12345", ""),
    "raybob_LATE_77_8_01_x.ipynb": ("77", "raybob", "77", "late, says Canvas"),
    "óbrien_ray_77_8_01_x.ipynb": ("77", "óbrien_ray", "77", ""),
    "李雷_77_8_9-10_11.ipynb": ("77", "李雷", "77", ""),
    "raybob_77_text.html": ("77", "raybob", "77", ""),
    "anon_aB3dE_8_01_x.ipynb": ("anon_aB3dE", "", "", ""),
    "LATE_anon_aB3dE_8_01_x.ipynb": ("anon_aB3dE", "", "", "late, says Canvas"),
    "Ada Lovelace_12345_assignsubmission_file_": ADA_LOVELACE,
    "Ada Lovelace_12345_assignsubmission_file": ADA_LOVELACE,
    "Ada Lovelace_12345_assignsubmission_file_01_x.ipynb": ADA_LOVELACE,
    "Default group_assignsubmission_file": ("Default group", "", "", ""),
    "Participant_12345_assignsubmission_file": ("Participant_12345", "", "", ""),
}


@pytest.mark.parametrize(("name", "says"), NAMES.items())
def test_a_name_says_whose_it_is(name, says):
    (download,) = download_names([name]).values()
    who = download.submitter
    assert (who.id, who.name, who.canvas_id, download.remark) == says


def test_namesakes_are_named_and_the_roster_tells_them_apart(folder, course):
    for name in ("Ada King_501_assignsubmission_file", "Ada King_502_assignsubmission_file"):
        put(folder / name / "01_mini_exercises.ipynb")
    for name in ("raybob_77_8_01_mini_exercises.ipynb", "raybob_78_9_01_mini_exercises.ipynb"):
        put(folder / name)
    found = read_class(folder, course)
    canvas, moodle = found.doubts
    assert canvas == (
        "77 and 78 are 2 students of one name, raybob: Canvas's numbers tell them apart."
    )
    assert moodle.endswith(
        "A line `LOGIN;Ada King_501` for each in --roster decides whose login it is."
    )
    entries = [RosterEntry("king1", "Ada King_501"), RosterEntry("king2", "Ada King_502")]
    logins = {
        each: entry.student
        for each, entry in match_roster(entries, found.submitters.values()).items()
    }
    assert logins == {"Ada King_501": "king1", "Ada King_502": "king2"}


ADA = "lovelaceada_1001_77_01_x.ipynb"
BY_NAME = "x_1001_99999999_01_x_2002_5002_01_x.ipynb"  # how user 2002 calls themselves
AS_ADA = BY_NAME.replace("x_", "lovelaceada_", 1)
BY_FILE = "raybob_2002_5002_01_x_1001_99999999_01_x.ipynb"  # how user 2002 calls a file


def students(names, ids=()):
    read = download_names(names, ids)
    return {name: each.problem or each.submitter.id for name, each in read.items()}


DATED = "raybob_2002_8_01_x_2026_11_20.ipynb"


@pytest.mark.parametrize("forged", [BY_NAME, BY_FILE, DATED])
def test_where_names_hold_other_numbers_the_list_of_the_class_decides(forged):
    assert students([forged], ["2002", "3003"]) == {forged: "2002"}
    assert students([forged])[forged].startswith("the student's id is ambiguous: ")


def test_an_ambiguous_file_name_is_refused_and_both_students_named():
    read = students([ADA, AS_ADA], ["1001", "2002"])
    assert read[ADA] == "1001"
    assert "1001 (lovelaceada) or " in read[AS_ADA]
    assert "2002 (" in read[AS_ADA]


@given(
    name=st.from_regex(r"\w{0,8}(_\d+_\w{0,8}){0,2}", fullmatch=True),
    user=st.integers(1, 999),
    rest=st.from_regex(r"\w{1,8}(_\d+_\w{1,8}){0,2}", fullmatch=True),
)
def test_no_choice_of_names_gives_a_file_to_somebody_else(name, user, rest):
    file = f"{name.lower()}_{user}_8_{rest}.ipynb"
    assert students([file])[file] == str(user) or " or " in students([file])[file]


@pytest.mark.parametrize("name", ["01_x.ipynb", "01_x (1).ipynb", "ada_2.ipynb", "12_34_x.ipynb"])
def test_other_names_are_nobodys(name):
    assert download_names([name]) == {}


def test_of_canvass_files_the_highest_number_counts(folder, course):
    for name in ("1001_01_mini_exercises-1.ipynb", "999_01_mini_exercises.ipynb"):
        os.utime(put(folder / f"lovelaceada_12345_{name}"), (1_000_000 + ("999" in name),) * 2)
    (notebook,) = read_class(folder, course).notebooks
    assert notebook.file.name == "lovelaceada_12345_1001_01_mini_exercises-1.ipynb"
    assert notebook.remark == (
        f"of 2 notebooks, the last counts: {notebook.file.name}, "
        "not lovelaceada_12345_999_01_mini_exercises.ipynb"
    )


ADA_AT = "123456-78910 - Ada Lovelace - "


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Sep 10, 2026 1159 PM", "Sep 12, 2026 109 AM"),
        ("Sep 10, 2026 1100 AM", "Sep 10, 2026 1200 PM"),
        ("9 September, 2026 2359", "10 September, 2026 859"),
    ],
)
@pytest.mark.parametrize("place", ["{}/{}", "{} - {}"])
def test_of_what_brightspace_has_of_a_student_the_last_date_counts(
    folder, course, earlier, later, place
):
    for number, date in enumerate((later, earlier)):
        file = put(folder / place.format(ADA_AT + date, "hw1.ipynb"))
        os.utime(file, (1_000_000 + number,) * 2)
    put(folder / place.format("123457-78910 - Bob Ray - 10 septembre 2026 23:59", "hw1.ipynb"))
    put(folder / place.format("123458-78910 - Bob Ray - 10 septembre 2026 23:59", "hw1.ipynb"))
    put_file(folder / "index.html", "<html>")
    found = read_class(folder, course)
    assert [*found.submitters] == ["Ada Lovelace", "Bob Ray_123457-78910", "Bob Ray_123458-78910"]
    ada, bob, _ = found.notebooks if found.notebooks[0].student[0] == "A" else found.notebooks[::-1]
    assert later in str(ada.file)
    assert bob.remark == "the date of its submission cannot be read: '10 septembre 2026 23:59'"
    entries = match_roster([RosterEntry("al", "Lovelace, Ada")], found.submitters.values())
    assert entries["Ada Lovelace"].student == "al"
    assert "2 students of one name, Bob Ray" in found.doubts[0]


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("submission_123456/01_mini.ipynb", "Gradescope"),
        ("Leaves_ada_attempt_2026-09-10-11-59-00_01_mini.ipynb", "Blackboard"),
        ("Leaves_ada_attempt_2026-09-10-11-59-00.txt", "Blackboard"),
    ],
)
def test_downloads_that_do_not_name_students_are_refused(folder, course, name, system):
    put(folder / name)
    with pytest.raises(CourseError, match=f"it is from {system}, "):
        read_class(folder, course)
