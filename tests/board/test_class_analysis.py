"""What follows from the checks of a class: what goes round, who is stuck, what to ask."""

import re
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from pytree_course.board.class_analysis import (
    count_solved_and_trying,
    find_current_misconceptions,
    find_stuck_learners,
    plan_minutes,
    propose_question,
)
from pytree_course.board.session import Entry, Room
from pytree_course.course import Course
from tests.class_room import LESSON, questions_once, read_once
from tests.conftest import ROOT

BEGAN = datetime(2026, 3, 2, 10, tzinfo=UTC)
COURSE = Course(ROOT)
COUNT, PATHS = "count_leaves", "nan_paths"


@pytest.fixture
def leaves():
    return read_once(COURSE.lesson(LESSON).expected)


class Told:
    """A room with three learners, and what happens in it, at so many minutes."""

    def __init__(self):
        self.room, self._numbers = Room(), count(1)
        for name in ("Ada", "Ben", "Eve"):
            self(0, name, "joined", name=name)

    def __call__(self, minute, learner, kind, **data):
        self.room.apply(Entry(next(self._numbers), learner, at(minute), kind, data))

    def check(self, minute, learner, exercise, *names, is_right=False):
        data = {"lesson": LESSON, "exercise": exercise, "is_right": is_right}
        self(minute, learner, "checked", misconceptions=[*names], **data)


def at(minute):
    return BEGAN + timedelta(minutes=minute)


@pytest.fixture
def told():
    return Told()


# --- what goes round


def test_a_belief_is_counted_once_for_the_class_and_the_commonest_comes_first(told, leaves):
    told.check(1, "Ada", COUNT, "counts_all_nodes", "none_is_a_leaf")
    told.check(1, "Ben", COUNT, "none_is_a_leaf")
    for learner in ("Ada", "Ben", "Eve"):
        told.check(1, learner, PATHS, "none_is_a_leaf")
    first, second = find_current_misconceptions(told.room, leaves)
    assert (first.name, first.learner_count) == ("none_is_a_leaf", 3)
    exercises = [(each.belief.exercise, len(each.learners)) for each in first.by_exercise]
    assert exercises == [(PATHS, 3), (COUNT, 2)]  # where most hold it first
    assert (second.name, second.learner_count) == ("counts_all_nodes", 1)


def test_a_reason_falls_away_with_another_result_and_with_its_learner_but_not_with_time(
    told, leaves
):
    def round_of(lesson=leaves):
        names = {}
        for held in find_current_misconceptions(told.room, lesson):
            [holders] = held.by_exercise
            names[held.name] = [(name, time) for name, time in holders.learners]
        return names

    for who, minute in (("Ada", 1), ("Ben", 1), ("Eve", 3)):
        told.check(minute, who, COUNT, "none_is_a_leaf")
    expected = [("Eve", at(3)), ("Ada", at(1)), ("Ben", at(1))]  # the latest check first
    assert round_of() == {"none_is_a_leaf": expected}
    told.check(4, "Ada", COUNT, "counts_all_nodes")
    told(4, "Ben", "left")
    eve = {"none_is_a_leaf": [("Eve", at(3))]}
    assert round_of() == eve | {"counts_all_nodes": [("Ada", at(4))]}
    told.check(5, "Ada", COUNT, is_right=True)
    told.check(90, "Ada", PATHS)
    assert round_of() == eve
    assert round_of(read_once(COURSE.lesson("02_tree_map").expected)) == {}


# --- who is stuck

NONE, NODES, RIGHT = ["none_is_a_leaf"], ["counts_all_nodes"], None


@pytest.mark.parametrize(
    ("tries", "alike"),
    [
        ([NONE, NONE], 0),
        ([NONE, NONE, NONE], 3),
        ([NONE, NONE, NONE, NODES], 0),
        ([NONE, NONE, NONE, RIGHT], 0),
        ([[], [], [], []], 4),  # without a known reason they are alike too
        ([RIGHT, NONE, NONE, NONE], 0),  # who has solved it plays
    ],
)
def test_three_tries_with_the_same_reasons_are_stuck(told, leaves, tries, alike):
    for minute, held in enumerate(tries, 1):
        told.check(minute, "Ada", COUNT, *held or (), is_right=held is RIGHT)
    told.check(3, "Ada", PATHS)
    stuck = [("Ada", COUNT, alike, at(len(tries)))] if alike else []
    assert find_stuck_learners(told.room, leaves) == stuck


def test_solved_and_tried_count_each_learner_once(told):
    for held in ("none_is_a_leaf", "counts_all_nodes"):
        told.check(1, "Ada", COUNT, held)
        told.check(1, "Ben", COUNT, held)
    told.check(2, "Ben", COUNT, is_right=True)
    told.check(3, "Ben", COUNT)  # solved once is solved
    learners = told.room.learners.values()
    assert count_solved_and_trying(learners, LESSON, COUNT) == (1, 1)
    assert count_solved_and_trying(learners, LESSON, PATHS) == (0, 0)


# --- what to ask, and when


@pytest.fixture
def ask(told, leaves):
    """Return a function that gives the proposed question; feedback has shown the known cases."""
    by_belief = questions_once(COURSE.lesson(LESSON).expected)
    all_of_lesson = [each for asked in by_belief.values() for each in asked]

    def proposal(*known):
        held = find_current_misconceptions(told.room, leaves)
        return propose_question(told.room, held, all_of_lesson, known)

    return proposal


def test_the_question_that_parts_the_class_best_is_proposed(told, ask):
    assert ask() is None
    told.check(1, "Ada", COUNT, "none_is_a_leaf")
    told.check(1, "Ben", COUNT, is_right=True)
    told.check(1, "Eve", COUNT, "counts_all_nodes")
    question = ask()
    chosen = {
        option: {misconception.name for misconception in misconceptions}
        for option, misconceptions in question.misconceptions.items()
    }
    [leaf] = [option for option, names in chosen.items() if "none_is_a_leaf" in names]
    [nodes] = [option for option, names in chosen.items() if "counts_all_nodes" in names]
    assert len({leaf, nodes, question.answer}) == 3  # each of them chooses another option


def test_where_all_hold_one_belief_it_is_asked_about_in_a_case_that_feedback_did_not_show(
    told, ask
):
    for learner in ("Ada", "Ben"):
        told.check(1, learner, COUNT, "none_is_a_leaf")
    known = [(COUNT, ask().case)]
    other = ask(*known)
    assert (COUNT, other.case) not in known
    for question in (ask(), other):
        names = [each.name for beliefs in question.misconceptions.values() for each in beliefs]
        assert "none_is_a_leaf" in names


def test_the_plan_is_that_of_the_document_for_teachers():
    """A core exercise should be done when docs/plans.md says that the next step begins."""
    text = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
    sessions = text.split("## A session for each lesson")[1].split("\n### ")[1:]
    for files, session in zip(COURSE.lessons(), sessions, strict=True):
        expected = read_once(files.expected)
        steps = re.findall(r"\| (\d):(\d\d) \| (\d+) \| they do \| \[([^]]*)\]", session)
        ends = {title: 60 * int(hours) + int(at) + int(takes) for hours, at, takes, title in steps}
        plan = plan_minutes(expected)
        assert len(plan) == 3
        assert {expected.exercises[name].title: end for name, end in plan.items()} == ends
