"""Running a notebook with nbval: what is collected, what tells nbval something, what stays."""

import gc
import tempfile

import pytest

from pytree_course.course import Course
from pytree_course.grading import nbval_run
from pytree_course.grading.exercise_run import run_answers
from pytree_course.grading.lesson_to_grade import find_right_results, make_run_settings, read_lesson
from pytree_course.observing.observations import Number
from tests.made_submissions import RIGHT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def how(built_course):
    lesson = read_lesson(Course(built_course).lesson("01_mini"), seed=7)
    return make_run_settings(lesson, find_right_results(lesson), in_sandbox=False)


def run_count(how, code):
    return run_answers({"count_leaves": code}, how)


def sessions():
    gc.collect()
    return sum(isinstance(each, pytest.Session) for each in gc.get_objects())


def test_a_comment_in_an_answer_tells_nbval_nothing(how):
    run = run_count(how, f"# NBVAL_SKIP\n{RIGHT['count_leaves']}")["count_leaves"]
    assert run.check.outcomes is not None
    assert all(isinstance(outcome.observation, Number) for outcome in run.check.outcomes)


def test_nothing_beside_the_notebook_is_looked_at_and_nothing_stays(how, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    for name in ("other.ipynb", "test_other.py", "conftest.py", "folder/more.ipynb"):
        (tmp_path / name).write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    collected = []

    class Collector(nbval_run._Collector):
        def pytest_collect_file(self, file_path, parent):
            collected.append(file_path.name)
            return super().pytest_collect_file(file_path, parent)

    monkeypatch.setattr(nbval_run, "_Collector", Collector)
    before = sessions(), sorted(tmp_path.iterdir())
    assert run_count(how, RIGHT["count_leaves"])["count_leaves"].check.outcomes
    assert set(collected) == {"submission.ipynb"}
    assert (sessions(), sorted(tmp_path.iterdir())) == before
