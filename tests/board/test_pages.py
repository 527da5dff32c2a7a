"""The teacher's pages: what they show of a belief is what those who hold it are told."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from pytree_course.board import pages
from pytree_course.board.pages import Pages, reproduce_feedback
from pytree_course.board.session import Session, id_from_secret
from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.judging.judge import judge
from tests.class_room import LESSON, read_once
from tests.conftest import ROOT
from tests.lesson_turns import each_in_turn

COURSE = Course(ROOT)
COUNT = "count_leaves"


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path / "class.sqlite")
    yield session
    session.log.close()


@pytest.fixture
def shown(session, monkeypatch):
    monkeypatch.setattr(BuiltLesson, "read", read_once)
    return Pages(COURSE, session, "http://10.0.0.1:8910")


def test_the_board_is_about_the_lesson_that_was_begun_and_counts_its_minutes(session, shown):
    assert shown.lesson.lesson == LESSON
    page = shown.render_frame("board")
    assert f'join("http://10.0.0.1:8910", "{session.room.code}")' in page.replace("&#34;", '"')
    session.join("Ada")
    session.add("", "begin", {"lesson": "02_tree_map"})
    later = datetime.now(UTC) + timedelta(minutes=7.5)
    screen = shown.render_screen(later)["screen"]
    assert f"<b>1 learner</b> · {shown.lessons['02_tree_map'].title} · <b>minute 7</b>" in screen


def test_questions_of_two_options_are_asked_too(shown, monkeypatch):
    asked = []
    monkeypatch.setattr(pages, "questions", lambda *of, **how: asked.append((of, how)) or {})
    assert shown.questions(LESSON) == {}
    assert asked == [((shown.lessons[LESSON],), {"min_options": 2})]


def test_a_wrong_option_is_explained_by_the_commonest_belief_behind_it(session, shown):
    first, second, *_ = shown.lessons[LESSON].expected(COUNT).misconceptions
    about = Belief(LESSON, COUNT, second.name)
    question = SimpleNamespace(about=about, misconceptions={"3": [first, second]})
    assert shown.find_most_common(question, "3") == second  # it is asked about
    for held, expected in ((first, first), (second, second)):
        learner = id_from_secret(session.join("")[0])
        data = {"lesson": LESSON, "exercise": COUNT, "is_right": False}
        session.add(learner, "checked", data | {"misconceptions": [held.name]})
        assert shown.find_most_common(question, "3") == expected


@each_in_turn(COURSE.lessons())
def test_what_the_board_shows_of_a_reason_is_what_its_holders_are_told(files, monkeypatch):
    """What is shown is judged as an answer is, and judging finds this very misconception."""
    judged = []

    def judge_and_keep(*arguments):
        judged.append(judge(*arguments))
        return judged[-1]

    monkeypatch.setattr(pages, "judge", judge_and_keep)
    expected = read_once(files.expected)
    for exercise in map(expected.expected, [*expected.exercises][:4]):
        held = exercise.misconceptions[0]
        about = Belief(expected.lesson, exercise.name, held.name)
        shown, cases = reproduce_feedback(files, expected, about)
        failed = {(exercise.name, str(case)) for case in held.observations}
        assert cases == failed if exercise.lines else cases <= failed
        assert held.name in [each.name for each in judged[-1].misconceptions]
        assert " ".join(held.explanation.split()) in " ".join(shown.text.split())
        assert expected.sections[held.section].title in shown.text
        assert "<svg" in shown.html or exercise.lines
