"""Questions of a lesson for a class, and reviews in a terminal."""

import xml.etree.ElementTree as ElementTree

import nbformat
import pytest
from typer.testing import CliRunner

from pytree_course.cli import author, learner, teacher  # noqa: F401
from pytree_course.cli.app import app
from pytree_course.course import CourseError
from pytree_course.learner.progress import Progress
from tests.conftest import ROOT


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the questions of lesson 1 in one form, and return the text."""
    monkeypatch.chdir(ROOT)

    def write(ending):
        file = tmp_path / f"questions{ending}"
        run = CliRunner().invoke(app, ["questions", "1", "--into", str(file)])
        assert run.exit_code == 0, run.output
        return file.read_text(encoding="utf-8")

    return write


def test_markdown_has_the_answers_at_the_end(written):
    asked, _, answers = written(".md").partition("\n# Answers\n")
    assert "How many leaves does JAX see here?" in asked
    assert "Their number is too high by one for each `None`." in answers
    assert "Your number is too high" not in asked
    assert asked.count("## Question ") == answers.count(".**\n")


def test_on_slides_each_answer_comes_one_step_after_its_question(written):
    notebook = nbformat.reads(written(".ipynb"), as_version=4)
    nbformat.validate(notebook)
    kinds = [cell.metadata.slideshow.slide_type for cell in notebook.cells[1:]]
    assert kinds == ["slide", "fragment"] * (len(kinds) // 2)


def test_moodle_gets_one_right_answer_and_a_belief_behind_each_other(written):
    quiz = ElementTree.fromstring(written(".xml"))
    asked = quiz.findall("question[@type='multichoice']")
    assert len(asked) > 50
    for question in asked:
        answers = question.findall("answer")
        right = [each for each in answers if each.get("fraction") == "100"]
        assert len(right) == 1 and 2 <= len(answers) <= 4
        for each in answers:
            assert each.findtext("text")
            assert bool(each.findtext("feedback/text")) == (each not in right)


def test_another_ending_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    run = CliRunner().invoke(app, ["questions", "1", "--into", str(tmp_path / "a.doc")])
    assert isinstance(run.exception, CourseError)
    assert "should end in .md, .ipynb (slides) or .xml (Moodle)" in str(run.exception)


def test_a_review_in_the_terminal_asks_explains_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTREE_COURSE_PROGRESS", str(tmp_path))
    assert "Nothing is due today." in CliRunner().invoke(app, ["review"]).output
    Progress.load(tmp_path / "progress.jsonl").add("01_leaves", "count_leaves", "correct")
    run = CliRunner().invoke(app, ["review"], input="A\n" * 10)
    assert run.exit_code == 0, run.output
    assert "Question 10 of 10" in run.output
    assert run.output.count("✓ Right.") + run.output.count("✗ Not this.") == 10
    assert len(Progress.load(tmp_path / "progress.jsonl").reviews) == 10
    assert "Nothing is due today." in CliRunner().invoke(app, ["review"]).output
