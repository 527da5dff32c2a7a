"""Misconceptions on demand: the verdicts of whole runs, for a few of their cases."""

from dataclasses import replace

import pytest

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.judge import judge
from pytree_course.observing.comparison import compare
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.replayed_draws import Draws
from pytree_course.running.run_cases import DrawnCases
from pytree_course.sources import authors_answers
from pytree_course.sources.authors_answers import (
    as_graded,
    define,
    expect_exercise,
    run_answer,
    with_misconceptions,
)
from pytree_course.sources.beliefs import Beliefs
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT
from tests.lesson_turns import each_in_turn

SEED = 12
LESSONS = Course(ROOT).lessons()
pytestmark = pytest.mark.slow


@each_in_turn(LESSONS)
def test_verdicts_are_those_of_whole_runs(files):
    sources = read_sources(files)
    for exercise in [*sources.exercises.values()][:2]:
        right = expect_exercise(sources, exercise, SEED)
        whole = with_misconceptions(right, sources, SEED)
        beliefs = Beliefs(sources, right, SEED)
        for answer in exercise.misconceptions[::7]:
            outcomes = run_answer(sources, exercise, answer, SEED)
            held = beliefs.held([outcome.observation for outcome in outcomes])
            assert judge(replace(right, misconceptions=held), outcomes) == judge(whole, outcomes)
        authors_answers._RESULTS.clear()


@each_in_turn(LESSONS)
def test_cases_that_run_in_any_order_do_not_depend_on_one_another(files):
    """Where they do, the check, or the misconception, is marked `in_order`, and runs whole.

    The built files hold what they yield in their order.
    """
    sources, built = read_sources(files), BuiltLesson.read(files.expected)
    for exercise in sources.exercises.values():
        check, expected = files.checks()[exercise.name], built.expected(exercise.name)
        wrong = {each.name: each.observations for each in expected.misconceptions}
        draws = Draws(PUBLIC_SEED)
        for answer in [exercise.solution, *exercise.misconceptions[::9]]:
            if check.in_order or "in_order" in answer.cell.metadata:
                continue
            whole = dict(enumerate(expected.observations)) | wrong.get(answer.name, {})
            with as_graded(sources, PUBLIC_SEED):
                drawn = DrawnCases(check, define(exercise, answer), draws)
                for asked in reversed(range(len(whole))):
                    ((case, alone),) = drawn.results(asked)
                    what = f"{exercise.name}, {answer.name}, case {case}"
                    assert not compare(whole[case], alone), what
