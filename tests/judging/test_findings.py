"""Misconceptions and findings: how a wrong answer is explained."""

import linecache
import textwrap

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest

from pytree_course.cases import Case
from pytree_course.cases.random_inputs import small_trees
from pytree_course.judging.expected import Misconception
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import Finding, VerdictKind
from pytree_course.judging.words import finding_sentences
from pytree_course.observing.comparison import with_skeleton
from pytree_course.observing.observe import observe, observe_raised
from pytree_course.observing.reading import read_json
from pytree_course.running.outcomes import Outcome
from pytree_course.running.run_cases import run_check
from tests.made_grades import made_exercise


def yielded_by(answer, check, seed):
    return [outcome.observation for outcome in run_check(check, [answer], seed)]


def expected_of(check, right, misconceptions=(), seed=0, **facts):
    """Make what is expected of an exercise from its right answer and misconceptions."""
    cases = list(check(right, rng=np.random.default_rng(seed)))
    observations = yielded_by(right, check, seed)
    held = []
    for name, explanation, answer in misconceptions:
        pairs = enumerate(zip(yielded_by(answer, check, seed), observations, strict=True))
        wrong_ones = {case: theirs for case, (theirs, right_one) in pairs if theirs != right_one}
        held.append(Misconception(name, explanation, "", wrong_ones))
    return made_exercise(
        observations,
        summaries=[case.if_wrong or None for case in cases],
        misconceptions=held,
        **facts,
    )


def judged_by(check, right, wrong, misconceptions=(), seed=0):
    """Run a check on a wrong answer, and return the verdict."""
    return judge(expected_of(check, right, misconceptions, seed), run_check(check, [wrong], seed))


def said(*run):
    return " ".join(finding_sentences(judged_by(*run).findings))


def written(source):
    """Define the function `it` as a notebook's cell does, so that errors know its lines."""
    name, source = "/tmp/ipykernel_1/1.py", textwrap.dedent(source).strip()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"jax": jax, "jnp": jnp, "np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["it"]


def on_trees(answer, rng):
    for tree in small_trees(rng, lambda: int(rng.integers(1, 100))):
        yield Case(answer, tree)


def on_numbers(answer, rng):
    for number in (3, 2, -1, -4, 5):
        yield Case(answer, number)


flat = jax.tree.leaves


def positive(number):
    if number < 0:
        raise ValueError
    return number + 1


@pytest.mark.parametrize(("wrong", "instead"), [(abs, "a result"), (lambda _: None, "`None`")])
def test_a_missing_error_is_named(wrong, instead):
    def silent(number):
        return positive(number) if number >= 0 else wrong(number)

    verdict = judged_by(on_numbers, positive, silent)
    [finding] = verdict.findings
    asked = "The task asks for a ValueError here."
    returned = f"Your code raises no error and returns {instead}."
    assert finding_sentences([finding]) == [f"{asked} {returned}"]
    assert {*finding.holds} <= {*verdict.failed}
    assert read_json(Finding, msgspec.json.encode(finding)) == finding  # as a gradebook keeps it


def test_another_error_than_the_one_asked_for_is_a_wrong_answer():
    def asserting(number):
        assert number >= 0
        return number + 1

    verdict = judged_by(on_numbers, positive, asserting)
    assert verdict.failure.got.type == "AssertionError"
    assert verdict.kind is VerdictKind.INCORRECT


@pytest.mark.parametrize("result", [2, None])
def test_nothing_is_said_of_a_wrong_result_that_no_belief_explains(result):
    assert said(on_trees, flat, lambda tree: result) == ""


ERRORS = [
    ("return {k.key for p, _ in jax.tree.leaves_with_path(tree) for k in p}", ""),
    ("return jax.jit(lambda x: 1 if x > 0 else 2)(1.0)", "is a tracer"),
    ("return jax.jit(lambda x: np.asarray(x))(1.0)", "use `jnp`"),
    ("return jax.grad(lambda x: x * 2.0)(3)", "floating-point"),
    ("return jax.tree.unflatten(jax.tree.structure(tree), [1] * 50)", "number of leaves"),
    ("return {[]: 1}", "no hash"),
    ("return jnp.ones(2) @ jnp.ones(3)", "shapes of two arrays"),
    ("return helper(tree)", "calls itself"),
    ("return {} + 1", "cannot calculate with a dict and an int"),
    ("return no_such_name", "neither in your answer cell nor in the set-up cell"),
    ("raise TypeError('no')", ""),
    ("return [1][5]", ""),
]


@pytest.mark.parametrize(("line", "words_"), ERRORS, ids=[line for line, _ in ERRORS])
def test_an_error_is_named_at_the_learners_line_where_its_meaning_is_known(line, words_):
    wrong = written(f"def helper(tree):\n  {line}\ndef it(tree):\n  return helper(tree)")
    text = said(on_trees, flat, wrong)
    assert words_ in text
    assert ("Line 2, `" in text) == bool(words_)


def seen(result):
    """Return what the build keeps of a result, which may be an error."""
    is_error = isinstance(result, Exception)
    return with_skeleton(observe_raised(result)) if is_error else observe(result)


HERE, THERE = TypeError("got 'a' at 0x12ab"), TypeError("got 'b' at 0x99ff")
OWN = type("OwnError", (TypeError,), {})("got 'a' at 0x12ab")
ANY, KEY, TYPE, VALUE = Exception("no"), KeyError("no"), TypeError("no"), ValueError("no")
RAISING = [1, TYPE, TYPE, 7, TYPE]
OF_EACH_TYPE = [{0: 7, 1: ANY}, {0: 7, 1: TYPE}, {0: 7, 1: VALUE}]


@pytest.mark.parametrize(
    ("right", "beliefs", "results", "blamed"),
    [
        ([1, 2, 3], [{0: 7, 1: 7}, {0: 7}], [7, 7, 3], [0]),  # one that explains all is enough
        ([1, 2, 3], [{0: 7, 1: 7}, {0: 7, 1: 7}], [7, 7, 3], []),  # two do: neither is blamed
        ([1, 2, 3], [{0: 7}, {0: 7, 2: 7}, {1: 7}], [7, 7, 3], [0, 2]),  # 1 predicts another result
        ([1, 2, 3], [{0: 7}, {1: 7}], [7, 7, 3], [0, 1]),  # together they explain all
        ([1, 2, 3], [{0: 7}], [7, 7, 3], []),  # one failing case is left unexplained
        # Of those that explain it together, one of errors alone comes last.
        ([1] * 5, [{1: ANY, 2: ANY, 4: ANY}, {1: ANY, 3: 7}, {2: ANY, 4: ANY}], RAISING, [1, 0]),
        # Errors that come before all else have to be alike.
        ([1, 2], [{0: HERE, 1: HERE}], [THERE, THERE], [0]),
        ([1, 2], [{0: HERE, 1: HERE}], [TYPE, TYPE], []),
        ([1, 2], [{0: HERE, 1: HERE}], [OWN, OWN], []),
        # Of two beliefs that fit, the one that raises the very type is held.
        ([1, 2], OF_EACH_TYPE, [7, TypeError("what")], [1]),
        ([1, 2], OF_EACH_TYPE, [7, KeyError("what")], [0]),
        # Any error will not do where the right one is raised too.
        ([KEY, KEY], [{0: ANY, 1: ANY}], [KEY, ANY], []),
    ],
)
def test_a_belief_that_fits_is_blamed_only_where_no_other_fits_as_well(
    right, beliefs, results, blamed
):
    held = [
        Misconception(str(place), "", "", {case: seen(result) for case, result in wrong.items()})
        for place, wrong in enumerate(beliefs)
    ]
    expected = made_exercise([*map(seen, right)], misconceptions=held)
    verdict = judge(expected, [Outcome((), (), seen(result)) for result in results])
    assert verdict.failed
    assert [each.name for each in verdict.misconceptions] == list(map(str, blamed))


def counting(answer, rng):
    for number in (1, 2, 3):
        means = {"traces too high": "Traced again.", "kept False": "Lost.", "": "Something else."}
        yield Case(lambda n: {"traces": answer(n), "kept": answer(n) != 7}, number, if_wrong=means)


@pytest.mark.parametrize(
    ("wrong", "words_"),
    [
        (lambda n: 2, "Traced again."),
        (lambda n: 0, "Something else."),
        (lambda n: 7 if n > 1 else 0, "Traced again. Something else."),
        (lambda n: None, "Something else."),
    ],
)
def test_a_check_says_what_wrong_entries_of_its_summary_mean(wrong, words_):
    assert said(counting, lambda n: 1, wrong) == words_
