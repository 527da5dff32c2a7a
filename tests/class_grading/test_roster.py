"""The list of a class: read in the forms that teachers have, and matched without guessing."""

import pytest

from pytree_course.class_grading.downloads import CANVAS, MOODLE, Submitter
from pytree_course.class_grading.roster import (
    RosterEntry,
    Student,
    find_missing,
    find_student,
    find_students,
    match_roster,
    read_canvas_columns,
    read_roster,
)
from pytree_course.course import CourseError

ADA = RosterEntry("ada", "Ada Lovelace")
BOB = RosterEntry("bob", "Bob O'Brien-Ray")


def written(tmp_path, text):
    file = tmp_path / "class.csv"
    file.write_text(text, encoding="utf-8")
    return file


def canvas(number, name):
    return Submitter(number, name, CANVAS, number)


def matched(entries, *submitters):
    return {each: entry.student for each, entry in match_roster(entries, submitters).items()}


def test_the_list_gives_the_students_names(tmp_path):
    file = written(tmp_path, "\ufeffstudent,name\nada,Ada Lovelace\nbob,\n,nobody\nzoe\u0308,\n")
    assert read_roster(file) == [ADA, RosterEntry("bob"), RosterEntry("zo\xeb")]  # in one form


def test_canvass_own_export_of_the_grades_is_a_list_too(tmp_path):
    file = written(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,Lesson 1 (99),Final Score (7)\n"
        "    Points Possible,,,,,21,\n"
        '"Lovelace, Ada",12345,u1,ada,One,,\n'
        '"Student, Test",777,,8a7f,One,,\n',
    )
    assert read_roster(file) == [RosterEntry("ada", "Lovelace, Ada", "12345")]
    assert read_canvas_columns(file) == ["Lesson 1 (99)"]


def test_github_classrooms_export_is_a_list_too(tmp_path):
    file = written(
        tmp_path,
        '"identifier","github_username","github_id","name"\n'
        '"ada","Ada-L","583231","Ada Lovelace"\n"bob","","",""\n',
    )
    entry = RosterEntry("ada", "Ada Lovelace", account="Ada-L")
    assert read_roster(file) == [entry, RosterEntry("bob")]
    assert matched([entry], Submitter("ada-l")) == {"ada-l": "ada"}


def test_who_matches_nobody_is_named_with_the_nearest_folder():
    logins = ["ADA", "123", "bob", "cyd", "dan", "eve", "u7"]
    roster = [RosterEntry(login, "Fay Fox" if login == "u7" else "") for login in logins]
    folders = ["ada", "00123", "leaves-bob", "King, Cyd(cyd)", "King_Dan_dan_77", "eve", "Fox_Fay"]
    near = dict(zip(logins, folders, strict=True)) | {"stevenson": ""}
    near.pop("eve")
    roster.append(RosterEntry("stevenson"))
    assert find_missing(roster, [*map(Submitter, [*folders, "leaves-bob-late"])]) == near


REFUSED = {
    "student,name\nada,Ada\nbob,\nada,Ada Again\n": "has ada more than once",
    "student,name,canvas_id\nada,Ada,77\nbob,Bob,77\n": "has ID 77 more than once",
    "login;full name\nada;Ada Lovelace\n": r"Its columns are: login, full name\.$",
    "name,mail\nAda,ada@example.org\n": "student,name",
    "student,name\n,Ada\n": "no line with a student",
    **dict.fromkeys(("", "\x00\x01"), r"student,name|cannot be read"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_a_bad_roster_is_refused_with_the_reason(tmp_path, text, said):
    with pytest.raises(CourseError, match=said):
        read_roster(written(tmp_path, text))


def test_canvass_students_match_by_id_and_otherwise_by_name():
    by_id = RosterEntry("eve", "Somebody Else", "77")
    found = matched([ADA, BOB, by_id], canvas("12", "lovelaceada"), canvas("77", "lovelacebob"))
    assert found == {"12": "ada", "77": "eve"}
    assert matched([BOB], canvas("13", "obrienraybob")) == {"13": "bob"}


@pytest.mark.parametrize("name", ["Ada Lovelace", "Lovelace Ada", "LOVELACE  Ada", "Lovelace, Ada"])
def test_moodles_students_match_by_the_words_of_their_names(name):
    found = matched([ADA, BOB], Submitter(name, system=MOODLE))
    assert found == {name: "ada"}
    assert matched([BOB], Submitter("Bob OBrien-Ray", system=MOODLE)) == {"Bob OBrien-Ray": "bob"}


def test_a_name_that_two_have_matches_nobody():
    twin = RosterEntry("ada2", "Ada Lovelace")
    assert matched([ADA, twin], Submitter("Ada Lovelace", system=MOODLE)) == {}
    assert matched([ADA], canvas("12", "lovelaceada"), canvas("13", "lovelaceada")) == {}
    moodles = Submitter("Ada Lovelace", system=MOODLE)
    assert matched([ADA], Submitter("ada"), moodles) == {"ada": "ada"}
    assert matched([ADA], Submitter("Ada Lovelace")) == {}  # a folder's name is no full name


def test_everyone_is_listed_once_by_name_if_ids_may_be_numbers():
    def listed(roster, *submitters):
        students = find_students({each.id: each for each in submitters}, roster)
        return [(each.id, each.label, each.login, each.is_expected) for each in students]

    roster = [RosterEntry("zoe", "Ada A"), RosterEntry("bob")]
    assert listed([], Submitter("zoe"), Submitter("ada")) == [
        *(("ada", "ada", "ada", True), ("zoe", "zoe", "zoe", True)),
    ]
    assert listed(roster, Submitter("zoe"), Submitter("eve")) == [
        ("bob", "bob", "bob", True),
        ("eve", "eve", "", False),
        ("zoe", "Ada A (zoe)", "zoe", True),
    ]
    anonymous = Submitter("anon_b", system=CANVAS)
    assert listed([], canvas("9", "lovelaceada"), canvas("10", "raybob"), anonymous) == [
        ("anon_b", "anon_b", "", True),
        ("9", "lovelaceada (9)", "", True),
        ("10", "raybob (10)", "", True),
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("12", "12"), ("ada", "12"), ("Cy", "bob"), ("bob", "bob")),
        *(("Ada", "several"), ("", "no student"), ("gus", "no student")),
    ],
)
def test_a_student_is_found_by_id_by_login_or_else_by_a_name_that_is_no_other_ones(name, found):
    students = [Student("12", "Ada", login="ada"), Student("13", "Ada")]
    students += [Student("bob", "Cy"), Student("dan", "bob")]
    try:
        assert find_student(name, students).id == found
    except CourseError as error:
        assert str(error).startswith(found)
