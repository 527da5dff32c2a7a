"""Details that no course knows: they cost the page they are on a sentence, and others nothing."""

from dataclasses import replace

import pytest

from pytree_course.classroom.attempt import AttemptState
from pytree_course.classroom.class_grades import Student
from pytree_course.reports import page_texts, pages
from pytree_course.reports.clusters import find_clusters
from pytree_course.reports.pages import write_pages
from pytree_course.reports.showable_rows import CANNOT_BE_SHOWN, MOST_INPUTS, showable
from tests.made_grades import failure, made_attempt, made_grades, made_lesson, made_row
from tests.test_pages import assert_harmless, pages_of, visible

NUMBER = {"kind": "number", "type": "int", "value": 41}
LARGEST_PAGE = 4_000_000  # characters
LARGE_NODE = {
    "kind": "node",
    "type": "<&>" * 10,
    "aux": None,
    "children": [[f"[{at}]", NUMBER] for at in range(2_000)],
}


def nested(depth):
    seen = NUMBER
    for _ in range(depth):
        seen = {"kind": "node", "type": "list", "aux": None, "children": [["[0]", seen]]}
    return seen


def with_failure(**changes):
    return made_row("count", "incorrect", failure=failure(**changes))


UNKNOWN = {
    "inputs without words": with_failure(written=[]),
    "words without inputs": with_failure(inputs=[], written=["{}", "1"]),
    "no inputs": with_failure(inputs=None),
    "an unknown kind": with_failure(got={"kind": "what"}),
    "no observation": with_failure(got=["a list"]),
    "half a node": with_failure(got={"kind": "node", "type": "dict", "children": [1]}),
    "a shape of words": with_failure(got={"kind": "shape", "dtype": "f", "shape": ["a"]}),
    "nested too deep": with_failure(got=nested(20_000)),
    "printed no text": with_failure(printed=["a"]),
    "a line without number": with_failure(line={"text": "1 / 0"}),
    "a failure of one word": made_row("count", "incorrect", failure="wrong"),
    "an empty failure": made_row("count", "incorrect", failure={"a": 1}),
    "reasons of other kinds": made_row("count", "incorrect", reasons=[["a"], {}]),
    "misconceptions of other kinds": made_row("count", "incorrect", misconceptions=[["a"]]),
    "lines of other kinds": made_row("count", "incorrect", lines=[{"name": 3}], failed=[0]),
    "more lines than cases": made_row("count", "incorrect", lines=[{}, {}], failed=[0]),
    "cases before the first": made_row("count", "incorrect", failed=[-1]),
}


def class_with(row, **values):
    """Return a class with one strange row, and honest ones beside it."""
    attempts = [
        made_attempt("ada", [made_row("count", "correct")]),
        made_attempt("eve", [row, made_row("paths", "correct")], **values),
        made_attempt("zoe", [with_failure(note="a note of zoe's")]),
    ]
    return made_grades(attempts)


@pytest.mark.parametrize("row", UNKNOWN.values(), ids=UNKNOWN)
def test_details_of_an_unknown_form_are_said_not_to_be_shown(row, tmp_path):
    written = pages_of(class_with(row), tmp_path)
    page = visible(written["students/eve.html"])
    assert f"It is incorrect. {CANNOT_BE_SHOWN}" in page
    assert "answer of eve" in page
    assert "2 of 4 points" in page
    assert "a note of zoe's" in visible(written["students/zoe.html"])
    assert "3 students" in visible(written["report.html"])
    for name in written:
        assert_harmless(written[name])
        assert ("eve" in name) == (CANNOT_BE_SHOWN in written[name])


def test_what_cannot_be_drawn_or_rendered_costs_its_own_place_only(tmp_path, monkeypatch):
    def no_picture(seen):
        raise ZeroDivisionError

    monkeypatch.setattr(page_texts.drawing, "svg", no_picture)
    monkeypatch.setattr(pages, "pass_plot", no_picture)
    written = pages_of(class_with(made_row("count", "error")), tmp_path)
    assert visible(written["students/zoe.html"]).count("The course cannot draw this value.") == 2
    assert "a note of zoe's" in visible(written["students/zoe.html"])
    assert "This plot could not be drawn; its numbers are below." in visible(written["report.html"])


def test_a_page_that_cannot_be_written_stops_no_other(tmp_path):
    (tmp_path / "students" / "eve.html").mkdir(parents=True)
    (said,) = write_pages(class_with(made_row("count", "error")), tmp_path)
    assert said.startswith(f"{tmp_path / 'students' / 'eve.html'}: ")
    written = {file.name for file in tmp_path.rglob("*.html") if file.is_file()}
    assert written == {"ada.html", "zoe.html", "report.html"}
    assert not [*tmp_path.rglob("*.part")]


def test_thirty_thousand_inputs_are_ten_and_a_count(tmp_path):
    row = with_failure(inputs=[NUMBER] * 30_000, written=["41"] * 30_000)
    page = pages_of(class_with(row), tmp_path)["students/eve.html"]
    assert "… and 29,990 more inputs" in visible(page)
    assert page.count("<svg") == MOST_INPUTS + 1


def test_a_page_has_so_many_pictures_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(page_texts, "MOST_PARTS", 3)
    row = with_failure(inputs=[NUMBER] * 5, written=["41"] * 5)
    page = pages_of(class_with(row), tmp_path)["students/eve.html"]
    assert page.count("<svg") == 3
    assert (
        visible(page).count("This picture is left out: there are too many pictures on this page.")
        == 3
    )


def test_an_enormous_class_page_is_bounded(tmp_path):
    """The most that a student can put everywhere: many large pictures, and long texts."""
    text = "\U000e0001<&" * 10**5
    line = {"name": text, "text": text, "said": text, "wrong": text, "misconception": ""}
    large = failure(
        LARGE_NODE, inputs=[LARGE_NODE] * 12, written=[text] * 12, printed=text, note=text
    )
    large["line"] = {"number": 10**9, "text": text}
    many = [f"exercise_{number}" for number in range(3)]
    rows = [
        made_row(name, "incorrect", explanation=text, failure=large, reasons=[text] * 100)
        for name in many
    ]
    rows[0] = replace(rows[0], lines=[line] * 1000, failed=[0] * 1000)
    attempt = made_attempt("eve", rows, answers=dict.fromkeys(many, text), reason=text)
    grades = made_grades(
        [attempt, replace(attempt, student="fay")],
        [made_lesson(exercises=many)],
        [Student("eve", text), Student("fay", text)],
    )
    for page in pages_of(grades, tmp_path).values():
        assert len(page) < LARGEST_PAGE


def test_what_looks_like_a_number_and_is_none_costs_no_report(tmp_path):
    """The digits of other scripts are no Python; and Python reads no number this long."""
    exercise = replace(
        made_lesson().exercises["count"],
        lines={"A": "`[1]`", "B": "`None`"},
        observations=[NUMBER, NUMBER],
    )
    attempts = []
    for student in ("eve", "fay"):
        lines = [
            {"name": name, "text": "", "said": said, "wrong": "Too high.", "misconception": ""}
            for name, said in (("A", "٣"), ("B", "9" * 5000))
        ]
        row = made_row("count", "incorrect", lines=lines, failed=[0, 1], failure=None)
        attempts.append(made_attempt(student, [row]))
    grades = made_grades(attempts, [replace(made_lesson(), exercises={"count": exercise})])
    assert find_clusters(showable(grades), fewest=1) == []
    assert "2 students" in visible(pages_of(grades, tmp_path)["report.html"])


def test_what_was_remarked_of_a_notebook_is_on_its_page_without_the_teachers_folders(tmp_path):
    reason = "graded are the first 20 tries; /secret place/eve/01_made.ipynb is the <b>21st</b>"
    written = pages_of(class_with(made_row("count", "correct"), reason=reason), tmp_path)
    said = "Remark: graded are the first 20 tries; 01_made.ipynb is the <b>21st</b>"
    assert said in visible(written["students/eve.html"])
    assert "first 20 tries" in visible(written["report.html"])
    assert "secret place" not in written["students/eve.html"]
    assert "Remark" not in written["students/ada.html"]
    failed = {"state": AttemptState.FAILED, "reason": "OSError: 5"}
    written = pages_of(class_with(made_row("count", "failed"), **failed), tmp_path)
    assert "OSError" not in written["students/eve.html"]
