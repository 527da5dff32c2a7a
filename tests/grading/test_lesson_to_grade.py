"""A lesson is graded on fresh cases where its sources are, and kernels see no answers."""

import json
import shutil

import pytest

from pytree_course.course import CourseError
from pytree_course.grading.lesson_to_grade import find_right_results, make_run_settings, read_lesson
from pytree_course.running.outcomes import PUBLIC_SEED
from tests.conftest import edit


def test_fresh_cases_need_sources_and_public_ones_do_not(mini):
    lesson = read_lesson(mini, seed=5)
    right = find_right_results(lesson)
    settings = make_run_settings(lesson, right, in_sandbox=True)
    assert (lesson.seed, lesson.on_public_cases, settings.seed) == (5, False, 5)
    assert settings.right == {name: each.observations for name, each in right.items()}
    assert settings.right["first_leaf"] != mini_results(lesson)
    assert (settings.in_sandbox, settings.blank) == (True, mini.read_blank())

    shutil.rmtree(mini.sources)
    public = read_lesson(mini, seed=5)
    assert (public.seed, public.on_public_cases) == (PUBLIC_SEED, True)
    assert find_right_results(public)["first_leaf"].observations == mini_results(public)
    assert make_run_settings(public, {}, in_sandbox=False).right == {}


def mini_results(lesson):
    return lesson.stored.expected("first_leaf").observations


def test_sources_that_have_changed_are_to_be_built_first(mini):
    edit(mini.sources / "answers.py", "You counted nodes.", "You did.")
    with pytest.raises(CourseError, match=r"have changed since it was built\. Run first: .* 01"):
        read_lesson(mini, seed=5)


def test_kernels_see_no_hints_results_or_answers(mini):
    settings = make_run_settings(read_lesson(mini, seed=5), {}, in_sandbox=True)
    assert [*settings.course] == ["checks/check_01_mini.py", "checks/expected/01_mini.json"]
    built = json.loads(settings.course["checks/expected/01_mini.json"])
    assert [each["hints"] for each in built["exercises"].values()] == [[], []]
    assert built["predictions"] == built["deciding"] == built["reasons"] == {}
