"""The pages of a class: complete, harmless whatever was handed in, and silent on the answers."""

import dataclasses
import re
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec import structs

from pytree_course import drawing
from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.class_grading.gradebook import Memory
from pytree_course.class_grading.roster import Student
from pytree_course.class_grading.student_files import LeftOut
from pytree_course.grading.lesson_to_grade import find_right_results, read_lesson
from pytree_course.judging.verdicts import Finding, WrongLine
from pytree_course.judging.words import finding_sentences
from pytree_course.observing.observations import Number, Raised
from pytree_course.reports import pages
from pytree_course.reports.csv_tables import grades_csv
from pytree_course.reports.pages import choose_page_names, write_pages
from pytree_course.running.outcomes import MAX_INPUTS, Line
from tests.conftest import contents
from tests.made_grades import (
    BASIS,
    NOON,
    SECRET,
    failure,
    made_attempt,
    made_grades,
    made_lesson,
    made_row,
    strange_grades,
)

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>\x00\u202e\ud800"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LINK = r"((\.\./)?students/[\w~.-]+\.html|(answers|report)\.html)?(#[\w~.-]+)?"
STATIC = Path(pages.__file__).parent / "static"
SCRIPTS = {
    page: [(STATIC / name).read_text("utf-8")]
    for page, name in (("report.html", "sorting.js"), ("answers.html", "corrections.js"))
}
LOADED = {"img", "link", "iframe", "object", "form", "embed", "base", "video", "audio"}
FETCHING = {"src", "href", "xlink:href", "action", "srcset", "data", "poster", "background"}


class Tags(HTMLParser):
    """All tags of a page, with their attributes; each has to be closed in its place."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.open = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def pages_of(grades, folder, times=None):
    assert write_pages(grades, folder, times or {}) == []
    return {name: page.decode() for name, page in contents(folder).items()}


def visible(page):
    body = page.split("</head>")[1]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


def assert_harmless(page, scripts=()):
    """Check that a page runs no script but those given, fetches nothing and hides nothing."""
    tags = Tags(page).found
    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [*scripts]
    assert {tag for tag, _ in tags}.isdisjoint(LOADED)
    for _, attributes in tags:
        assert attributes.get("http-equiv") in (None, "Content-Security-Policy")
        assert not [name for name in attributes if name.startswith("on")]
        for name in FETCHING & attributes.keys():
            assert re.fullmatch(LINK, attributes[name])
    assert not re.search(r"url\((?!#)|@import", page)
    assert "\x00" not in page
    assert "\u202e" not in page


@pytest.fixture
def grades():
    row, error = made_row("count", "incorrect", misconceptions=["none_is_a_leaf"]), "error"
    raised = Raised("ValueError", ("ValueError",), {SECRET: False}, "went wrong")
    broken = failure(raised, printed="printed words", line=Line(3, "1 / 0"), note="The `note`.")
    stuck = {"state": AttemptState.UNREADABLE, "answers": {}}
    stuck["reason"] = "/secret place/eve/01_made.ipynb is no notebook"
    return made_grades(
        [
            made_attempt("ada", [made_row("count", "correct"), made_row("paths", "not attempted")]),
            made_attempt("bob", [row, made_row("paths", error, failure=broken)]),
            made_attempt("cyd", [made_row("count", "not attempted"), made_row("paths", error)]),
            made_attempt("dan", [made_row("count", "timed out"), made_row("gone", "crashed")]),
            made_attempt("eve", [made_row("count", None)], **stuck),
            made_attempt(
                "fay", [made_row("count", None)], state=AttemptState.FAILED, reason="OSError: 5"
            ),
            made_attempt("bob", [made_row("count", "correct")], "02_made"),
        ],
        lessons=[made_lesson(), made_lesson("02_made")],
        students=[
            *(
                Student(name, f"{name.title()} Name")
                for name in ("ada", "bob", "cyd", "dan", "eve")
            ),
            Student("fay", is_expected=False),
            Student("gil", "Gil Name"),
        ],
        due=NOON - timedelta(hours=26, minutes=5),
    )


def test_a_students_page_says_what_became_of_every_exercise(grades, tmp_path):
    page = visible(pages_of(grades, tmp_path)["students/bob.html"])
    for words in (
        *("Grades of Bob Name (bob)", "2 of 8 points", "late by 1 day, 2:05:00", "answer of bob"),
        "✗ Not yet · 0 of 2 points · 1 of 5 cases passed",
        "Reread in the lesson: “None is no leaf”",
        *("The smallest case that failed", "Given", "Yours", "! Error", "raised ValueError"),
        *("went wrong", "Line 3 of your cell: 1 / 0", "printed words", "The note ."),
        "✓ Correct · 2 of 2 points",
    ):
        assert words in page, words


def test_a_students_page_shows_no_other_student_nor_expected_results(grades, tmp_path):
    pages = pages_of(grades, tmp_path)
    others = {student.id for student in grades.students}
    for student in grades.students:
        page = pages[f"students/{student.id}.html"]
        assert SECRET not in page
        assert "secret place" not in page
        words = set(re.findall(r"\w+", visible(page).lower()))
        assert words & others == {student.id}


def test_a_students_page_says_why_there_is_no_grade(grades, tmp_path):
    pages = pages_of(grades, tmp_path)
    assert "Nothing was handed in." in visible(pages["students/gil.html"])
    assert "could not be read: 01_made.ipynb is no notebook" in visible(pages["students/eve.html"])
    failed = visible(pages["students/fay.html"])
    assert "through no fault of yours" in failed
    assert "OSError" not in failed


def test_a_file_left_out_is_named_on_page_report_and_table(grades, tmp_path):
    left_out = [LeftOut("gil", "week 1/homework.py", "no exercise notebook of this course")]
    grades = dataclasses.replace(grades, memory=Memory(left_out=left_out))
    said = "week 1/homework.py : no exercise notebook of this course."
    pages = pages_of(grades, tmp_path)
    assert said in visible(pages["students/gil.html"])
    assert "Nothing was handed in" not in pages["students/gil.html"]
    report = visible(pages["report.html"])
    assert said not in visible(pages["students/ada.html"])
    assert f"Gil Name (gil) , {said}".replace(": no", ": not read: no") in report
    assert "– handed in, but not read" in report
    assert '"handed in, but not read"' in grades_csv(grades)
    assert f'"{said.replace(" : ", ": ").rstrip(".")}"' in grades_csv(grades)


def test_the_class_report_says_what_the_teacher_wants_to_know(grades, tmp_path):
    page = pages_of(grades, tmp_path)["report.html"]
    words = visible(page)
    for expected in (
        *("7 students, 6 handed in", "late by 1 day, 2:05:00", "– not handed in"),
        *("✗ tried and failed", "– handed in, but unreadable", "◔ little tried"),
        "graded 2 March 2026, 12:00 · Lesson 01_made due 1 March 2026, 09:55",
        *("1 of 3 You count None . Exercise count", "none is a leaf · 1 student"),
        *("not on the list of the class", "Bob Name (bob) ( 02_made , by 1 day, 2:05:00)"),
        "Eve Name (eve) , 01_made : not graded: /secret place/eve/01_made.ipynb is no notebook.",
        "not graded: OSError: 5. The next run tries again.",
    ):
        assert expected in words, expected
    links = [attributes.get("href", "") for tag, attributes in Tags(page).found if tag == "a"]
    assert "answers.html#01_made-count-bob.html" in links
    for link in links:
        name, _, target = link.partition("#")
        there = (tmp_path / name).read_text("utf-8") if name else page
        assert not target or f'id="{target}"' in there


def test_answers_stand_by_result_the_wrong_ones_first_and_then_large_groups(tmp_path):
    def wrong(student, results, seed=7):
        basis = structs.replace(BASIS, seed=seed)
        return made_attempt(student, [made_row("count", "incorrect", results=results, basis=basis)])

    blank = made_attempt("eve", [made_row("count", "not attempted")], answers={})
    of_a_group = structs.replace(wrong("team", "three"), reason="handed in for the group team")
    attempts = [made_attempt("ada", [made_row("count", "correct")]), wrong("bob", "one")]
    attempts += [wrong("cyd", "two"), wrong("dan", "two"), blank, wrong("fay", "two", seed=8)]
    ids = sorted({attempt.student for attempt in attempts} | {*"gh"})
    grades = made_grades(attempts, students=[*map(Student, ids)])
    grades.counting.update({(member, "01_made"): of_a_group for member in "gh"})
    page = pages_of(grades, tmp_path)["answers.html"]
    shown = re.findall(
        r'data-student="(\w+)".*data-result="01_made-count-(\d)".*label="(.+?)"', page
    )
    assert [(student, result) for student, result, _ in shown] == [
        *(("cyd", "1"), ("dan", "1"), ("bob", "2"), ("fay", "3"), ("team", "4")),
        *(("ada", "5"), ("eve", "6")),
    ]
    assert shown[4][2] == "g, h"
    assert 'data-columns="student,lesson,exercise,points,comment"' in page


def test_an_attempt_was_made_with_what_the_last_of_its_verdicts_was_made_with():
    later = structs.replace(BASIS, graded_at=NOON + timedelta(hours=1))
    bases = [BASIS, later, None, BASIS]
    rows = [made_row("count", "correct", basis=basis) for basis in bases]
    assert pages.last_basis(made_attempt("ada", rows)) == later
    assert pages.last_basis(made_attempt("ada", [])) is None


def test_bars_show_what_the_numbers_beside_them_say(grades, tmp_path):
    page = pages_of(grades, tmp_path)["report.html"]
    row = next(row for row in page.split("<tr>") if "<code>paths</code></th>" in row)
    row = row.split("</tr>")[0]
    assert re.findall(r">([\d%]+)</td>", row) == ["0%", "0", "0", "2", "1"]
    parts = re.findall(r'<i class="([\w-]+)" style="width: ([\d.]+)%', row)
    assert parts == [("error", "66.67"), ("not-attempted", "33.33")]


def test_whatever_students_write_is_only_text(tmp_path):
    into = tmp_path / "into"
    pages = pages_of(strange_grades(HOSTILE), into)
    assert [file.name for file in tmp_path.iterdir()] == ["into"]
    for name, page in pages.items():
        assert_harmless(page, SCRIPTS.get(name, ()))
        assert page.startswith('<!doctype html>\n<html lang="en">')
        assert f'content="{POLICY}' in page
    own = visible(pages["students/eve.html"])
    assert "<script>alert(1)</script>" in own
    assert r"]]>\x00\u202e\ud800" in own


def test_earlier_pages_are_removed_but_not_the_teachers_own(tmp_path):
    row = made_row("count", "correct")
    pages_of(made_grades([made_attempt("fay", [row])]), tmp_path)
    (tmp_path / "students" / "mine.html").write_text("<p>my own</p>")
    pages = pages_of(made_grades([made_attempt("12351", [row])]), tmp_path)
    names = {name for name in pages if name.startswith("students/")}
    assert names == {"students/12351.html", "students/mine.html"}


def test_students_pages_never_collide_or_leave_their_folder():
    students = ["ada", "Ada", "ADA", "../x", "x", "..", ".", "a/b", "a-b", "a\\b"]
    students += ["report", "ada~0123456789abcdef", "é", "e\u0301", "🌲"]
    students += ["x" * 300, "x" * 301, "a\x00", "x.html", ".hidden", "a b", "a_b", "-rf"]
    names = choose_page_names(students)
    assert list(names) == students
    assert len({name.casefold() for name in names.values()}) == len(students)
    for name in names.values():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._~-]{0,120}\.html", name)
    assert names["x"] == "x.html"


@pytest.mark.parametrize("students", [[], [Student("ada")]])
@pytest.mark.parametrize("lessons", [[], [made_lesson()]])
def test_a_class_that_handed_in_nothing_has_pages_too(students, lessons, tmp_path):
    pages = pages_of(ClassGrades(students, lessons, {}), tmp_path)
    assert {*pages} == {
        *("report.html", "answers.html"),
        *(f"students/{student.id}.html" for student in students),
    }
    assert "Nothing has been graded yet." in visible(pages["report.html"])
    assert "Equal wrong results" not in pages["report.html"]


def test_predicted_lines_and_general_reasons_are_shown_to_student_and_teacher(tmp_path):
    line = WrongLine(
        "A", "`[1, <b>]`", said="'<i>'", why="belief", data={"explanation": "Not `this`."}
    )
    predicted = {"failure": None, "lines": [line], "passed": 4}
    found = Finding("no error", [3, 4], {"expected": "ValueError", "instead": "`None`"})
    (reason,) = finding_sentences([found])
    rows = [
        made_row("count", "incorrect", **predicted),
        made_row("paths", "incorrect", findings=[found], explanation=reason),
    ]
    grades = made_grades([made_attempt(name, rows) for name in ("ada", "bob")])
    pages = pages_of(grades, tmp_path)
    student, report = pages["students/ada.html"], pages["report.html"]
    for page in (student, report):
        assert_harmless(page, SCRIPTS["report.html"] if page == report else ())
        assert "Your code raises no error and returns <code>None</code>." in page
        assert "<code>[1, &lt;b&gt;]</code>" in page
        assert "Not <code>this</code>." in page
    assert "4 of 5 lines right" in visible(student)
    assert '# %% exercise="paths" misconception="name_it"' in visible(report)


def test_a_graded_class_learns_nothing_about_the_fresh_cases(quick, course, mini, tmp_path):
    """What a student's page says of a failing case is in none of what was expected there."""
    wrong = {
        "count_leaves": "def count_leaves(tree):\n    return len(tree) + 1000",
        "first_leaf": "def first_leaf(tree):\n    raise ValueError('not this')",
    }
    for student in ("ada", "bob"):
        quick.hand_in(student, wrong)
    assert quick.grade().graded == 2
    with quick.gradebook() as gradebook:
        grades = ClassGrades.combine(course, gradebook)
    pages = pages_of(grades, tmp_path / "out")
    assert "count_leaves · 2 students" in visible(pages["report.html"])

    attempt = grades.counting["ada", "01_mini"]
    page = pages["students/ada.html"]
    (seed,) = quick.seeds()
    fresh = find_right_results(read_lesson(mini, seed))
    for row in attempt.rows:
        assert row.failure
        drawn = [drawing.svg(each) for each in row.failure.inputs]
        assert all(picture in page for picture in drawn)
        for observation in fresh[row.exercise].observations:
            assert drawing.svg(observation) not in page
    assert "no leaves" not in page  # what the message has to mention


# --- what is large, damaged or strange costs its own place, and others nothing


def test_fifty_inputs_are_ten_and_a_count(tmp_path):
    many = failure(inputs=[Number("int", 41)] * MAX_INPUTS, written=["41"] * MAX_INPUTS)
    attempt = made_attempt("eve", [made_row("count", "incorrect", failure=many)])
    page = pages_of(made_grades([attempt]), tmp_path)["students/eve.html"]
    assert "… and 40 more inputs" in visible(page)
    assert page.count("<svg") == 11


def test_the_end_of_a_long_answer_is_left_out(tmp_path):
    row, answers = made_row("count", "incorrect"), {"count": "<" * 10_000}
    written = pages_of(made_grades([made_attempt("eve", [row], answers=answers)]), tmp_path)
    for name in ("students/eve.html", "answers.html"):
        assert "Shortened: 4,000 of 10,000 characters are not shown." in written[name]


def test_remarks_are_on_the_page_without_the_teachers_folders(tmp_path):
    reason = "of 20 notebooks, the last counts; /secret place/eve/01_made.ipynb is the <b>last</b>"
    attempt = made_attempt("eve", [made_row("count", "correct")], reason=reason)
    written = pages_of(made_grades([attempt]), tmp_path)
    said = "Remark: of 20 notebooks, the last counts; 01_made.ipynb is the <b>last</b>"
    assert said in visible(written["students/eve.html"])
    assert "of 20 notebooks" in visible(written["report.html"])
    assert "secret place" not in written["students/eve.html"]
