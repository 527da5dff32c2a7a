"""A check's cases are run on answers: what is recorded of each."""

from collections import OrderedDict

import numpy as np
import pytest

from pytree_course.cases import Case
from pytree_course.observing import observations as obs
from pytree_course.observing.observe import observe
from pytree_course.running import outcomes
from pytree_course.running.outcomes import MAX_PRINTED, Line
from pytree_course.running.run_cases import (
    MAX_PRINTED_LINES,
    CaseInterrupted,
    run_case,
    run_check,
    stable_repr,
)
from tests.judging.test_findings import written
from tests.judging.test_judge import doubled, right


def test_inputs_are_seen_before_an_answer_changes_them():
    outcome = run_check(doubled, [list.clear], 0)[0]
    assert outcome.inputs == (observe([1, 2, 3, 4]),)


def test_the_same_seed_draws_the_same_cases_and_the_inputs_are_written_as_python_does():
    first, again, other = (run_check(doubled, [right], seed) for seed in (0, 0, 1))
    assert first == again != other
    assert [outcome.written for outcome in first[:2]] == [("[1, 2, 3, 4]",), ("[]",)]
    long = run_case(Case(len, "x" * 999, note="Long.", predicted="A"))
    assert [len(text) for text in long.written] == [outcomes.MAX_WRITTEN]
    assert (long.note, long.predicted) == ("Long.", "A")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * (10 * MAX_PRINTED), "x" * MAX_PRINTED + "…"),
        ("x" * (MAX_PRINTED - 1), "x" * (MAX_PRINTED - 1)),
        ("\n".join(["word"] * MAX_PRINTED_LINES), "word" + "\nword" * (MAX_PRINTED_LINES - 1)),
        ("\n".join(["word"] * 50), "word\n" * MAX_PRINTED_LINES + "… 40 more lines"),
    ],
)
def test_what_an_answer_prints_is_kept_and_bounded(capsys, text, kept):
    def talking(values):
        print(text)
        return right(values)

    assert run_check(doubled, [talking], 0)[0].printed == kept
    assert capsys.readouterr().out == ""


def test_the_learners_line_that_raised_is_the_last_of_a_cell():
    answer = written("def helper(x):\n    return 1 / x\ndef it(x):\n    return helper(x)")
    assert run_case(Case(answer, 0)).line == Line(2, "return 1 / x")
    assert run_case(Case(answer, 1)).line is None
    assert run_case(Case(lambda: 1 / 0)).line is None  # of no cell


def raising(error):
    raise error


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (NotImplementedError(), obs.NotAttempted),
        (ValueError("no leaves"), obs.Raised),
        (SystemExit(0), obs.Raised),
        (GeneratorExit(), obs.Raised),
    ],
)
def test_whatever_an_answer_raises_is_an_outcome(error, seen):
    outcome = run_case(Case(raising, error, mentions=("leaves",)))
    assert isinstance(outcome.observation, seen)
    if isinstance(error, ValueError):
        assert outcome.observation.mentions == {"leaves": True}


def test_an_interrupt_is_not_swallowed():
    def interrupted(values):
        raise KeyboardInterrupt

    with pytest.raises(CaseInterrupted) as caught:
        run_check(doubled, [interrupted], 0)
    assert caught.value.written == ("[1, 2, 3, 4]",)


class Own(dict):
    def __repr__(self):
        return "mine"


def holding_itself():
    held = [1]
    held.append(held)
    return held


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (OrderedDict(a=[(1,), (1, 2), ()]), "OrderedDict({'a': [(1,), (1, 2), ()]})"),
        ({"a": OrderedDict(b=1), 2: None}, "{'a': OrderedDict({'b': 1}), 2: None}"),
        ([Own(a=1), np.int64(3)], "[mine, np.int64(3)]"),
        (holding_itself(), "[1, ...]"),
    ],
)
def test_inputs_are_written_alike_by_each_python(value, text):
    assert stable_repr(value) == text
