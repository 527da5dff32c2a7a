"""The author's answers are run for what is expected: results, misconceptions, questions."""

import pytest

from pytree_course.judging.expected import Given
from pytree_course.observing.observe import observe
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources import authors_answers
from pytree_course.sources.authors_answers import AnswerError, expect_exercise, run_answer
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit


def expected(unbuilt):
    """Return what is expected of the first exercise, as its sources are now."""
    edit(unbuilt.sources / "exercises.md", "hints: [", "question: How many?\nhints: [")
    sources = read_sources(unbuilt)
    return expect_exercise(sources, sources.exercises["count_leaves"], PUBLIC_SEED)


def test_what_is_expected_are_right_results_and_those_that_misconceptions_get_wrong(unbuilt):
    count = expected(unbuilt)
    assert count.observations[:3] == [*map(observe, (0, 0, 3))]
    elements, nodes, none = count.misconceptions
    assert elements.explanation == "You counted the container's elements with `len`."
    assert (elements.observations[1], 0 in elements.observations) == (observe(1), False)
    assert (nodes.name, nodes.observations[2]) == ("nodes", observe(9))
    assert none.observations[2] == observe(4)
    assert count.functions and count.lines == {}
    assert count.summaries == [None] * 6


def test_a_question_shows_short_code_whole(unbuilt):
    for case in (
        'answer, OrderedDict(a=1), note="Noted."',
        "answer, [12345678] * 10",
        'lambda tree: {"n": 1}, [1], if_wrong={"n": "No."}',
        "answer, [object]",
        "answer, [12345678] * 9",
        "answer, [1], 2",
    ):
        edit(unbuilt.check_script, "[None])", f"[None])\n    yield Case({case})")
    edit(unbuilt.check_script, "from pytree", "from collections import OrderedDict\nfrom pytree")
    count = expected(unbuilt)
    # Of these six, in the other order: no type may be guessed, none be made by the check or cut.
    assert [number for number in count.given if number < 8] == [0, 1, 2, 3, 7]
    assert count.given[0] == Given("{}", (observe({}),))
    assert (count.given[2].code, len(count.given[3].code)) == ("count_leaves([1], 2)", 90)
    assert (count.given[7].code, count.given[7].note) == ("OrderedDict({'a': 1})", "Noted.")
    assert count.summaries[5] == {"n": "No."}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    return len(tree)", "    pass\nraise KeyError(1)", "KeyError: 1"),
        (
            "def count_leaves(tree):\n    return len(tree)",
            "count = len",
            "does not define count",
        ),
    ],
)
def test_an_answer_that_cannot_be_run_says_why(unbuilt, old, new, message):
    edit(unbuilt.sources / "answers.py", old, new)
    sources = read_sources(unbuilt)
    exercise = sources.exercises["count_leaves"]
    with pytest.raises(AnswerError, match=message):
        run_answer(sources, exercise, exercise.misconceptions[0], PUBLIC_SEED)


def test_an_answer_runs_once_for_a_seed(unbuilt, monkeypatch):
    sources = read_sources(unbuilt)
    exercise, ran = sources.exercises["count_leaves"], []
    monkeypatch.setattr(authors_answers, "_RUNS", {})
    monkeypatch.setattr(authors_answers, "run_check", lambda *_: ran.append(1) or [*ran])
    solution = exercise.solution
    first, again, other = (run_answer(sources, exercise, solution, seed) for seed in (1, 1, 2))
    assert (first, again, other) == ([1], [1], [1, 1])
