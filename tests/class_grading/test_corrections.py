"""Corrections: a teacher's points and comments stand beside verdicts, and stay there."""

import csv
import sqlite3
import zipfile

import pytest

from tests.made_submissions import ELEMENTS, NODES, RIGHT

pytestmark = pytest.mark.slow

HEADING = "student,lesson,exercise,points,comment\n"
FOR_BOB = 'bob,1,count_leaves,1,"Right, but for arrays."\n'


class Corrected:
    """A graded class: ada's answers are right, bob's are wrong."""

    def __init__(self, made):
        self.made, self.options = made, []
        made.hand_in("ada", RIGHT)
        made.hand_in("bob", ELEMENTS)

    def grade(self, lines=None, status=0):
        """Grade by the command, with corrections if there are any; return what it said."""
        options = [*self.options]
        if lines is not None:
            file = self.made.folder.parent / "corrections.csv"
            file.write_text(HEADING + lines, encoding="utf-8")
            options += ["--corrections", str(file)]
        done = self.made.run_here(*options)
        assert done.returncode == status
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
    comment = "bob,01_mini,count_leaves,,=1+1 <script>alert(1)</script>\n"
    graded.grade("eve,1,count_leaves,1,As seen on paper.\n" + comment)
    assert graded.row("eve") == ("1", "0", "yes", "As seen on paper.")
    assert "by the teacher</strong>; by the check 0. As seen" in graded.page("students/eve.html")
    assert graded.row() == ("0", "0", "yes", "'=1+1 <script>alert(1)</script>")
    assert "<script>alert" not in graded.page() + graded.page("report.html")


def test_another_file_adds_to_earlier_corrections_and_says_what_it_replaced(graded):
    graded.grade(FOR_BOB)
    said = graded.grade("ada,1,count_leaves,0,Copied.\n")  # none is a number of points, too
    assert "Replaced" not in said
    assert "1 correction read, 0 in place of earlier ones; the gradebook has 2." in said
    assert graded.row("ada") == ("0", "1", "yes", "Copied.")
    assert graded.row()[0] == "1"
    said = graded.grade("ada,1,count_leaves,1,\nbob,1,count_leaves,,\n")
    assert "Replaced: ada, 01_mini, count_leaves: 0 points, “Copied.”; now 1 point" in said
    assert "Replaced: bob, 01_mini, count_leaves: 1 point, “Right, but for arrays.”; now t" in said
    assert graded.row("ada") == ("1", "1", "yes", "")
    assert graded.row() == ("0", "0", "no", "")


def test_half_points_are_added_up_and_a_whole_sum_has_no_decimals(graded):
    graded.grade('bob,1,count_leaves,0.5,\nada,1,count_leaves,"0,5",\nada,1,first_leaf,1.5,\n')
    with (graded.made.into / "grades.csv").open(encoding="utf-8", newline="") as table:
        points = {row["student"]: row["points"] for row in csv.DictReader(table)}
    assert points == {"ada": "2", "bob": "0.5"}
    assert "<b>2</b> of 3 points" in graded.page("students/ada.html")
    assert "0.5 of 1 point, by the teacher" in graded.page()
    assert "2.0" not in graded.page("report.html")


def test_corrections_need_no_submissions_and_come_from_any_hand_in(graded, course_py):
    graded.grade()
    with zipfile.ZipFile(graded.made.folder.parent / "cy.zip", "w") as other:
        other.write(graded.made.hand_in("cy", NODES), "cy/01_mini_exercises.ipynb")
    graded.made.folder = graded.made.folder.parent / "cy.zip"
    graded.grade()
    file = graded.made.into.parent / "corrections.csv"
    file.write_text(HEADING + FOR_BOB + "cy,1,count_leaves,0.5,\n", encoding="utf-8")
    done = course_py("grade", "--into", graded.made.into, "--corrections", file)
    assert done.returncode == 0
    assert (graded.row()[0], graded.row("cy")[0]) == ("1", "0.5")


def test_a_correction_for_an_earlier_answer_is_marked_until_changed(graded):
    graded.grade(FOR_BOB)
    graded.made.hand_in("bob", NODES)
    graded.grade(FOR_BOB)
    assert graded.row()[2] == "for an earlier answer"
    assert "This was said of an earlier answer." in graded.page("report.html")
    assert "This was said of an earlier answer." in graded.page()
    graded.grade("bob,1,count_leaves,1,Still right for arrays.\n")
    assert graded.row()[2] == "yes"


def test_a_damaged_correction_is_said_and_no_grade_is_lost(graded):
    graded.grade(FOR_BOB)
    with sqlite3.connect(graded.made.into / "gradebook.sqlite") as database:
        database.execute("UPDATE memory SET record = replace(record, 'comment', 'word')")
    said = " ".join(graded.grade(status=2).split())
    assert "is damaged" in said
    assert "grade into another folder, with --corrections FILE" in said
    assert len(graded.made.attempts()) == 2


def test_a_login_of_the_list_means_nobody_else_who_is_called_so(graded):
    roster = graded.made.folder.parent / "class.csv"
    roster.write_text("student,name\nada,mia\nbob,Bob\nmia,Mia\n")
    graded.options = ["--roster", str(roster)]
    said = graded.grade("mia,1,count_leaves,0,\n", status=2)
    assert "line 2: nothing that mia handed in for 01_mini was graded" in said


MISTAKES = {
    "gus,1,count_leaves,1,": "no student is called 'gus'",
    "bob,9,count_leaves,1,": "There is no lesson '9'",
    "bob,1,count_trees,1,": "no exercise 'count_trees'",
    "bob,1,count_leaves,1.5,": "whole or half ones, from 0 to 1",
    "bob,1,count_leaves,-1,": "whole or half ones, from 0 to 1",
    "bob,1,count_leaves,1,": "an earlier line is about the same answer",
}


def test_corrections_that_fit_no_answer_are_refused_by_line_number(graded):
    over_two_lines = FOR_BOB.replace(", but", ",\nbut")
    said = graded.grade(over_two_lines + "\n".join(MISTAKES), status=2)
    assert "Nothing was graded." in said
    lines = said.splitlines()
    for number, what in enumerate(MISTAKES.values(), start=4):
        assert [line for line in lines if line.startswith(f"line {number}: ") and what in line]
    assert not graded.made.attempts()
