"""Corrections: a teacher's points and comments stand beside verdicts, and stay there."""

import csv
import zipfile

import pytest
from msgspec import structs

from pytree_course.class_grading.corrections import (
    Correction,
    add_corrections,
    apply_corrections,
    read_corrections,
)
from pytree_course.class_grading.roster import Student
from pytree_course.course import CourseError
from tests.conftest import put
from tests.made_grades import made_attempt, made_row
from tests.made_submissions import ELEMENTS, EXERCISES, NODES, RIGHT

HEADING = "student,lesson,exercise,points,comment\n"
FOR_BOB = 'bob,1,count_leaves,1,"Right, but for arrays."\n'

WRONG = made_row("count_leaves", "incorrect")
STUDENTS = [
    *(Student("ada", "mia", login="ada"), Student("b7", "Bob", login="bob")),
    *(Student("cyd", login="cyd", group="Two", group_id="two"), Student("mia", "Mia")),
]
HANDED_IN = {("ada", "01_mini"), ("b7", "01_mini"), ("two", "01_mini")}


def read(tmp_path, course, lines, heading=HEADING):
    file = put(tmp_path / "corrections.csv", heading + lines)
    return read_corrections(file, course, STUDENTS, HANDED_IN)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bob,1,count_leaves,1,Right.", ("b7", "count_leaves", 1, "Right.")),
        ('Bob,mini,first_leaf,"0,5",', ("b7", "first_leaf", 0.5, "")),
        ("cyd,01_mini,first_leaf,1.5,", ("two", "first_leaf", 1.5, "")),  # handed in as a group
        ("two,1,first_leaf,0,", ("two", "first_leaf", 0, "")),
        ("ada,1,count_leaves,,", ("ada", "count_leaves", None, "")),
    ],
)
def test_a_line_is_for_what_a_student_or_the_group_handed_in(tmp_path, course, line, expected):
    student, exercise, points, comment = expected
    (correction,) = read(tmp_path, course, line)
    assert correction == Correction(student, "01_mini", exercise, points, comment)
    assert correction.is_taken_back == (points is None)


MISTAKES = {
    "gus,1,count_leaves,1,": "no student is called 'gus'",
    "mia,1,count_leaves,0,": "nothing that mia handed in for 01_mini was graded",  # nor is it ada
    "bob,9,count_leaves,1,": "There is no lesson '9'",
    "bob,1,count_trees,1,": "no exercise 'count_trees'",
    "bob,1,count_leaves,1.5,": "whole or half ones, from 0 to 1",
    "bob,1,count_leaves,0.7,": "whole or half ones, from 0 to 1",
    "bob,1,count_leaves,-1,": "whole or half ones, from 0 to 1",
    "bob,1,count_leaves,1,": "an earlier line is about the same answer",
}


def test_corrections_that_fit_no_answer_are_refused_by_line_number(tmp_path, course):
    for heading in ("student,points\n", ""):
        with pytest.raises(CourseError, match="needs a first line `student,lesson,exercise,"):
            read(tmp_path, course, "", heading=heading)
    over_two_lines = FOR_BOB.replace(", but", ",\nbut")
    with pytest.raises(CourseError) as refused:
        read(tmp_path, course, over_two_lines + "\n".join(MISTAKES))
    _, *lines = str(refused.value).splitlines()
    assert len(lines) == len(MISTAKES)
    for number, (line, what) in enumerate(zip(lines, MISTAKES.values(), strict=True), start=4):
        assert line.startswith(f"line {number}: ")
        assert what in line


def test_a_correction_is_for_the_answer_that_counts_when_it_is_given():
    def applied(correction, code):
        attempt = made_attempt("bob", [WRONG], "01_mini", answers={"count_leaves": code})
        (row,) = apply_corrections(attempt, {correction.key: correction}).rows
        return row.points, row.teacher.points_by_check, row.teacher.is_for_this_answer

    attempt = made_attempt("bob", [WRONG], "01_mini", answers={"count_leaves": "first"})
    counting = {("bob", "01_mini"): attempt}
    given = Correction("bob", "01_mini", "count_leaves", 1, "Right, but for arrays.")
    ([stored], replaced) = add_corrections([given], [], counting)
    assert replaced == []
    assert (applied(stored, "first"), applied(stored, "later")) == ((1, 0, True), (1, 0, False))
    later = {("bob", "01_mini"): structs.replace(attempt, answers={"count_leaves": "later"})}
    assert add_corrections([given], [stored], later) == ([stored], [])  # the same file again
    comment = structs.replace(given, points=None, comment="Nearly.")
    ([other], [said]) = add_corrections([comment], [stored], later)
    assert said == (
        "Replaced: bob, 01_mini, count_leaves: 1 point, “Right, but for arrays.”; now “Nearly.”"
    )
    assert applied(other, "later") == (0, 0, True)
    taken_back = structs.replace(given, points=None, comment="")
    left, [said] = add_corrections([taken_back], [other], later)
    assert (left, said.rpartition("; ")[2]) == ([], "now taken back")
    assert apply_corrections(attempt, {}).rows == [WRONG]


class Corrected:
    """A graded class: ada's answers are right, bob's are wrong."""

    def __init__(self, made):
        self.made = made
        made.hand_in("ada", RIGHT)
        made.hand_in("bob", ELEMENTS)

    def grade(self, lines=None):
        """Grade by the command, with corrections if there are any; return what it said."""
        options = []
        if lines is not None:
            file = put(self.made.folder.parent / "corrections.csv", HEADING + lines)
            options = ["--corrections", str(file)]
        done = self.made.run_here(*options)
        assert done.returncode == 0
        return done.stdout + done.stderr

    def row(self, student="bob", exercise="count_leaves"):
        with (self.made.into / "exercises.csv").open(encoding="utf-8", newline="") as table:
            rows = {(row["student"], row["exercise"]): row for row in csv.DictReader(table)}
        row = rows[student, exercise]
        return row["points"], row["points_by_check"], row["corrected"], row["teachers_comment"]

    def page(self, name="students/bob.html"):
        return (self.made.into / name).read_text(encoding="utf-8")


@pytest.fixture
def graded(quick):
    return Corrected(quick)


@pytest.mark.slow
def test_points_and_comment_stand_beside_the_verdict_everywhere(graded):
    graded.grade(FOR_BOB)
    assert graded.row() == ("1", "0", "yes", "Right, but for arrays.")
    assert graded.row("ada") == ("1", "1", "no", "")
    said = "<strong>1 of 1 point, by the teacher</strong>; by the check 0. Right, but for arrays."
    assert said in graded.page()
    assert said in graded.page("report.html")
    grades = (graded.made.into / "grades.csv").read_text(encoding="utf-8")
    assert '"bob","","yes","01_mini","1"' in grades
    assert "✎&nbsp;1 by the teacher" in graded.page()  # in the table beside the verdict
    assert "✎&nbsp;1 by the teacher" in graded.page("report.html")
    graded.made.hand_in("eve", {}).write_bytes(b"{")  # points count for what cannot be read, too
    graded.made.hand_in("bob", NODES)
    comment = "ada,01_mini,count_leaves,,=1+1 <script>alert(1)</script>\n"
    said = graded.grade("eve,1,count_leaves,1,As seen on paper.\n" + comment)
    assert "2 corrections read, 0 in place of earlier ones; the gradebook has 3." in said
    assert graded.row()[2] == "for an earlier answer"
    assert "This was said of an earlier answer." in graded.page("report.html")
    assert "This was said of an earlier answer." in graded.page()
    assert graded.row("eve") == ("1", "0", "yes", "As seen on paper.")
    assert "by the teacher</strong>; by the check 0. As seen" in graded.page("students/eve.html")
    assert graded.row("ada") == ("1", "1", "yes", "'=1+1 <script>alert(1)</script>")
    assert "<script>alert" not in graded.page("students/ada.html") + graded.page("report.html")


@pytest.mark.slow
def test_corrections_need_no_submissions_and_come_from_any_hand_in(graded, course_py):
    graded.grade()
    with zipfile.ZipFile(graded.made.folder.parent / "cy.zip", "w") as other:
        other.write(graded.made.hand_in("cy", NODES), f"cy/{EXERCISES}")
    graded.made.folder = graded.made.folder.parent / "cy.zip"
    graded.grade()
    lines = HEADING + FOR_BOB + "cy,1,count_leaves,0.5,\n"
    file = put(graded.made.into.parent / "corrections.csv", lines)
    done = course_py("grade", "--into", graded.made.into, "--corrections", file)
    assert done.returncode == 0
    assert (graded.row()[0], graded.row("cy")[0]) == ("1", "0.5")
