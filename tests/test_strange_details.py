"""What is large, damaged or strange costs its own place in tables and pages, and others nothing."""

from msgspec.structs import replace

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.judging.verdicts import Finding
from pytree_course.observing.observations import Node, Number
from pytree_course.reports import pages
from pytree_course.reports.csv_tables import write_tables
from pytree_course.reports.pages import write_pages
from pytree_course.running.outcomes import (
    MAX_INPUTS,
    MAX_LINE,
    MAX_LINES,
    MAX_PRINTED,
    MAX_WRITTEN,
    Line,
)
from tests.made_grades import failure, made_attempt, made_grades, made_lesson, made_row
from tests.test_pages import pages_of, visible

NUMBER = Number("int", 41)
LARGEST_PAGE = 4_000_000  # characters
LARGE_NODE = Node(
    type="<&>" * 10, aux=None, children=tuple((f"[{at}]", NUMBER) for at in range(2_000))
)


def with_failure(**changes):
    return made_row("count", "incorrect", failure=failure(**changes))


def class_with(row, **values):
    """Return a class with one strange row, and honest ones beside it."""
    attempts = [
        made_attempt("ada", [made_row("count", "correct")]),
        made_attempt("eve", [row, made_row("paths", "correct")], **values),
        made_attempt("zoe", [with_failure(note="a note of zoe's")]),
    ]
    return made_grades(attempts)


def test_a_record_that_cannot_be_read_is_its_students_row_and_stops_no_table_or_page(
    tmp_path, course
):
    with Gradebook(tmp_path / "gradebook.sqlite") as gradebook:
        for student in ("ada", "eve"):
            gradebook.record(made_attempt(student, [made_row("count", "error")], "01_mini"))
        gradebook._database.execute("UPDATE attempt SET record = '{' WHERE student = 'eve'")
        grades = ClassGrades.of(course, ClassFolder(tmp_path, [], [], []), gradebook, None, None)
    assert not write_tables(grades, tmp_path)
    assert not write_pages(grades, tmp_path)
    said = "The record of this notebook in the gradebook cannot be read"
    assert '"eve","","yes","01_mini","0","3","failed"' in (tmp_path / "grades.csv").read_text()
    assert said in (tmp_path / "grades.csv").read_text()
    assert said in visible((tmp_path / "report.html").read_text())
    page = visible((tmp_path / "students" / "eve.html").read_text())
    assert "Grading failed, through no fault of yours." in page
    assert "It is error." in visible((tmp_path / "students" / "ada.html").read_text())


def test_a_page_that_cannot_be_written_stops_no_other(tmp_path):
    (tmp_path / "students" / "eve.html").mkdir(parents=True)
    (said,) = write_pages(class_with(made_row("count", "error")), tmp_path)
    assert said.startswith(f"{tmp_path / 'students' / 'eve.html'}: ")
    written = {file.name for file in tmp_path.rglob("*.html") if file.is_file()}
    answers = {"01_made-count.html", "01_made-paths.html"}
    assert written == {"ada.html", "zoe.html", "report.html", *answers}
    assert not [*tmp_path.rglob("*.part")]


def test_fifty_inputs_are_ten_and_a_count(tmp_path):
    row = with_failure(inputs=[NUMBER] * MAX_INPUTS, written=["41"] * MAX_INPUTS)
    page = pages_of(class_with(row), tmp_path)["students/eve.html"]
    assert "… and 40 more inputs" in visible(page)
    assert page.count("<svg") == 11


def test_a_page_has_so_many_pictures_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_PARTS", 3)
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
    large = failure(
        LARGE_NODE,
        inputs=[LARGE_NODE] * MAX_INPUTS,
        written=[text[:MAX_WRITTEN]] * MAX_INPUTS,
        printed=text[:MAX_PRINTED],
        note=text[:MAX_PRINTED],
        line=Line(MAX_LINES, text[:MAX_LINE]),
    )
    found = Finding(text, [], {"sentence": text})
    many = [f"exercise_{number}" for number in range(3)]
    rows = [
        made_row(name, "incorrect", explanation=text, failure=large, findings=[found] * 100)
        for name in many
    ]
    attempt = made_attempt("eve", rows, answers=dict.fromkeys(many, text), reason=text)
    grades = made_grades(
        [attempt, replace(attempt, student="fay")],
        [made_lesson(exercises=many)],
        [Student("eve", text), Student("fay", text)],
    )
    for page in pages_of(grades, tmp_path).values():
        assert len(page) < LARGEST_PAGE


def test_what_was_remarked_of_a_notebook_is_on_its_page_without_the_teachers_folders(tmp_path):
    reason = "of 20 notebooks, the last counts; /secret place/eve/01_made.ipynb is the <b>last</b>"
    written = pages_of(class_with(made_row("count", "correct"), reason=reason), tmp_path)
    said = "Remark: of 20 notebooks, the last counts; 01_made.ipynb is the <b>last</b>"
    assert said in visible(written["students/eve.html"])
    assert "of 20 notebooks" in visible(written["report.html"])
    assert "secret place" not in written["students/eve.html"]
    assert "Remark" not in written["students/ada.html"]
    failed = {"state": AttemptState.FAILED, "reason": "OSError: 5"}
    written = pages_of(class_with(made_row("count", "failed"), **failed), tmp_path)
    assert "OSError" not in written["students/eve.html"]
