"""A check feeds cases to answers; a verdict says how it went, and why."""

from functools import partial
from pathlib import Path

import pytest

from pytree_course.cases import Case, check, returning_jax
from pytree_course.judging.feedback import feedback
from pytree_course.judging.judge import without_outcomes
from pytree_course.judging.verdicts import VerdictKind
from tests.judging.test_findings import expected_of, judged_by
from tests.stored import assert_as_stored


@check
def doubled(answer, rng):
    yield Case(answer, [1, 2, 3, 4])
    yield Case(answer, [])
    yield Case(answer, [int(rng.integers(5, 100))])


def right(values):
    return [2 * value for value in values]


def squares(values):
    return [value * value for value in values]


EXPECTED = expected_of(doubled, right)
BELIEFS = [("squares", "Twice <b>is not</b> `x * x`.", squares)]


def verdict_on(answer, seed=0):
    return judged_by(doubled, right, answer, BELIEFS, seed)


def starter(values):
    raise NotImplementedError


def leaving(values):
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (right, VerdictKind.CORRECT),
        (squares, VerdictKind.INCORRECT),
        (starter, VerdictKind.NOT_ATTEMPTED),
        (lambda values: ..., VerdictKind.NOT_ATTEMPTED),
        (lambda values: [] if not values else ..., VerdictKind.INCORRECT),  # partly filled
        (lambda values: values[10], VerdictKind.ERROR),
        (leaving, VerdictKind.ERROR),
    ],
)
def test_a_right_answer_earns_all_points_and_any_other_none(answer, kind):
    verdict = verdict_on(answer)
    assert (verdict.kind, verdict.points) == (kind, 2 if answer is right else 0)
    assert (verdict.passed == verdict.cases) == (answer is right)
    if kind is VerdictKind.ERROR:
        assert verdict.failure.got.type == ("SystemExit" if answer is leaving else "IndexError")


def test_a_wrong_answer_shows_the_smallest_failing_case():
    verdict = verdict_on(lambda values: values)
    assert verdict.passed == 1
    assert verdict.failure.case == 2  # one number, where case 0 has four
    assert verdict.failure.difference.path == ("[0]",)


ALL_VERDICTS = {
    "correct": verdict_on(right),
    "incorrect": verdict_on(lambda values: values),
    "misconception": verdict_on(squares),
    "long": judged_by(doubled, right, squares, [("", "It is not a square. " * 100, squares)]),
    "not attempted": verdict_on(starter),
    "error": verdict_on(lambda values: 1 / 0),
    "timed out": without_outcomes(EXPECTED, VerdictKind.TIMED_OUT, "it took too long"),
    "crashed": without_outcomes(EXPECTED, VerdictKind.CRASHED, "it ended"),
}


# That on a misconception shows all of that on an incorrect result.
@pytest.mark.parametrize("name", [name for name in ALL_VERDICTS if name != "incorrect"])
def test_feedback_is_as_it_was_when_somebody_last_looked_at_it(name):
    link = "../notebooks/x.ipynb#Twice"
    shown = feedback(ALL_VERDICTS[name], advice=["A `hint`."], section="Twice", link=link)
    for ending, form in (("html", shown.html), ("txt", shown.text)):
        assert_as_stored(Path(__file__).parent / "feedback" / f"{name}.{ending}", form)


def test_without_outcomes_no_case_passed():
    verdict = without_outcomes(EXPECTED, VerdictKind.ERROR, "no", "KeyError")
    assert (verdict.passed, verdict.cases, verdict.points) == (0, 3, 0)
    assert (verdict.title, verdict.error_type) == (EXPECTED.title, "KeyError")


def test_an_explanation_is_shown_with_a_case_that_has_what_it_quotes():
    for explanation, given in (("Twice is not a square.", 1), ("Twice `4` is 8, not 16.", 4)):
        beliefs = [("squares", explanation, squares)]
        shown = judged_by(doubled, right, squares, beliefs, seed=0).failure
        assert len(shown.got.children) == given


def test_wide_and_low_results_stand_below_each_other():
    def columns(wide):
        check = partial(on_one, [list(range(10, 10 + wide))])
        return feedback(judged_by(check, list, lambda tree: tree[::-1])).html.count("repeat(2,")

    assert [*map(columns, (7, 8, 10, 11))] == [1, 0, 0, 1]


def on_one(given, answer, rng):
    yield Case(answer, *given)


def test_inputs_are_called_what_the_function_calls_them_that_takes_them():
    passing_on, taking_more = (lambda *given: None), (lambda *trees: None)
    wrapped = returning_jax(right)
    names = {"`values`": (right, wrapped), "`tree`": (passing_on,)}
    names |= {"`trees[0]`": (taking_more,), "input 1": (None,)}
    for name, call in ((name, call) for name, calls in names.items() for call in calls):
        answers = [lambda tree: None] if call else []
        shown = feedback(ALL_VERDICTS["incorrect"], call=call, answers=answers)
        assert f"Given, {name}: [" in shown.text


def test_nothing_an_answer_yields_gets_into_the_page_unescaped():
    def shouting(values):
        print("<script>")
        return {"<img src=x onerror=alert(1)>": "<script>alert(1)</script>"}

    html = feedback(verdict_on(shouting)).html
    assert "<script" not in html
    assert "<img" not in html
