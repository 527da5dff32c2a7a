"""Students' pages for Canvas and Moodle, named so that they find whose each is."""

import zipfile

import pytest

from pytree_course.class_grading.downloads import BRIGHTSPACE, CANVAS, MOODLE
from pytree_course.class_grading.roster import Student
from pytree_course.reports.feedback_zips import write_feedback_zips
from tests.made_grades import made_attempt, made_grades, made_lesson, made_row

MOODLES = "Ada Lovelace_501_assignsubmission_file"


@pytest.mark.parametrize(
    ("system", "handed_in_as", "by", "login", "page"),
    [
        (CANVAS, "lovelaceada_12_7_hw 1.ipynb", "ada", "", "lovelaceada_12_7_hw 1.html"),
        (CANVAS, "", "ada", "ada", ""),
        (MOODLE, MOODLES, "ada", "al", f"{MOODLES}/feedback.html"),
        (MOODLE, f"{MOODLES}_01_x.ipynb", "ada", "al", f"{MOODLES}/feedback.html"),
        (MOODLE, MOODLES, "ada", "", ""),  # it is not known whose number it is
        (MOODLE, "Default group_assignsubmission_file", "ada", "al", ""),
        (MOODLE, MOODLES, "another member of the group", "al", ""),
        (BRIGHTSPACE, "1-2 - Ada - Sep 10, 2026", "ada", "al", ""),
        ("", "ada", "ada", "al", ""),
    ],
)
def test_a_page_is_named_as_the_platform_takes_it_back(
    tmp_path, system, handed_in_as, by, login, page
):
    lessons = [made_lesson(), made_lesson("02_made")]
    values = {"system": system, "handed_in_as": handed_in_as}
    attempt = made_attempt(by, [made_row("count", "correct")], **values)
    other = made_attempt("ada", [], "02_made")
    grades = made_grades([other], lessons, [Student("ada", login=login)])
    grades.counting["ada", "01_made"] = attempt
    assert write_feedback_zips(grades, tmp_path) == []
    files = [*tmp_path.iterdir()]
    assert [file.name for file in files] == [f"feedback-{system.lower()}.zip"] * bool(page)
    for file in files:
        with zipfile.ZipFile(file) as zipped:
            assert zipped.namelist() == [page]
            text = zipped.read(page).decode()
        assert "Exercise count" in text
        assert "Lesson 02_made" not in text  # of another assignment
