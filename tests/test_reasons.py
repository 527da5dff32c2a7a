"""General reasons: what is said of a wrong answer that no misconception explains."""

import linecache
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.checking import Case, words
from pytree_course.checking.comparison import skeleton
from pytree_course.checking.expected import Misconception
from pytree_course.checking.inputs import Duo, varied_trees
from pytree_course.checking.judging import judge
from pytree_course.checking.outcomes import run_check
from pytree_course.checking.reasons.features import features_of
from pytree_course.checking.reported import Outcome
from pytree_course.trees import observe, observe_raised
from tests.made_grades import made_exercise
from tests.test_trees import values

SECRET = 7_654_321
"""Stands for every expected number: no reason may hold it."""


def reasons(check, right, wrong, misconceptions=()):
    """Run a check on a wrong answer, and return the reasons of its verdict as one text."""
    features = [features_of(case) for case in check(right, rng=np.random.default_rng(0))]
    observations = [outcome.observation for outcome in run_check(check, [right], 0)]
    held = []
    for name, explanation, answer in misconceptions:
        outcomes = run_check(check, [answer], 0)
        yielded = {case: outcome.observation for case, outcome in enumerate(outcomes)}
        held.append(Misconception(name, explanation, "", yielded))
    expected = made_exercise(observations, features=features, misconceptions=held)
    return " ".join(judge(expected, run_check(check, [wrong], 0)).reasons)


def written(source):
    """Define the function `it` as a notebook's cell does, so that errors know its lines."""
    name, source = "/tmp/ipykernel_1/1.py", textwrap.dedent(source).strip()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"jax": jax, "jnp": jnp, "np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["it"]


def on_trees(answer, rng):
    for tree in varied_trees(rng, lambda: int(rng.integers(1, 100)), rich=0):
        yield Case(answer, tree)


def on_arrays(answer, rng):
    for shape in [(2,), (3,), (4,), (2, 2), (2, 3)]:
        yield Case(answer, {"w": rng.normal(size=shape).astype(np.float32)})


def on_numbers(answer, rng):
    for number in (3, 2, -1, -4, 5):
        yield Case(answer, number)


def on_values(answer, rng):
    for tree in ([1, 0], [1, 2], [0.0, 3], ["", 1], ["a"], {"a": 5}, {"a": 5, "b": 0}, [4]):
        yield Case(answer, tree)


def on_large(answer, rng):
    for number in (2**25 + 3, 2**26 + 5, 2**27 + 9, 4):
        yield Case(answer, jnp.int32(number))


def on_dicts(answer, rng):
    for keys in ("ab", "ba", "abc", "bca", "acb", "a", "abcd", "bc"):
        yield Case(answer, {key: (3 * place + 5) % 7 for place, key in enumerate(keys)})


def in_written_order(tree):
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in in_written_order(child)]
    return flat(tree)


def flat(tree):
    return jax.tree.leaves(tree)


def doubled(tree):
    return jax.tree.map(lambda x: 2 * x, tree)


def positive(number):
    if number < 0:
        raise ValueError("negative")
    return number + 1


def leaves_and_nones(tree):
    return jax.tree.leaves(tree, is_leaf=lambda node: node is None)


EXAMPLES = [
    (
        on_trees,
        lambda tree: len(flat(tree)),
        lambda tree: len(leaves_and_nones(tree)),
        "cases that pass has: a `None`",
    ),
    (on_trees, flat, leaves_and_nones, "it has `None`s that should not be there"),
    (on_trees, flat, lambda tree: flat(tree)[::-1], "right items in reverse order"),
    (on_dicts, flat, lambda tree: in_written_order(tree), "not written in sorted order"),
    (
        on_values,
        lambda tree: len(flat(tree)),
        lambda tree: sum(bool(leaf) for leaf in flat(tree)),
        "too low by the number of leaves that are false for Python",
    ),
    (
        on_values,
        lambda tree: [True],
        lambda tree: [all(flat(tree))],
        "each wrong leaf in it is `False`, and should not be",
    ),
    (on_arrays, doubled, lambda t: {"w": t["w"] + np.inf}, "infinite where it should not be"),
    (on_arrays, doubled, lambda t: {"w": 0 * t["w"] + 7}, "always 7"),
    (on_large, doubled, lambda t: jnp.int32(2 * jnp.float32(t)), "except for the last digits"),
    (on_trees, flat, lambda tree: tuple(flat(tree)), "a tuple where the task asks for a list"),
    (on_trees, flat, lambda tree: [flat(tree)], "keeps a container together"),
    (on_trees, doubled, lambda tree: tree, "an input, unchanged"),
    (on_trees, doubled, lambda tree: None, "`None`: does your function"),
    (on_arrays, doubled, lambda t: {"w": t["w"] * 2.0 + 1}, "too high, everywhere by one"),
    (on_arrays, doubled, lambda t: {"w": (2 * t["w"]).astype(np.float16)}, "in another dtype"),
    (on_arrays, doubled, lambda t: {"w": -2 * t["w"]}, "with the other sign"),
    (on_arrays, doubled, lambda t: {"w": 2 * t["w"].T}, "arrays with two axes or more"),
    (on_arrays, doubled, lambda t: {"w": 2 * t["w"][None]}, "an axis too many"),
    (on_arrays, doubled, lambda t: {"w": jnp.asarray(2 * t["w"])}, "the wrong library"),
    (on_arrays, lambda t: np.maximum(t["w"], 0), lambda t: t["w"], "negative where it should be"),
    (on_numbers, positive, lambda number: number + 1, "a ValueError should be raised"),
    (on_numbers, lambda number: number > 0, lambda number: True, "`True`, and should not be"),
    (
        on_numbers,
        lambda n: {"n": n, "traces": 1},
        lambda n: {"n": n, "traces": 3},
        "entry `traces`",
    ),
]


@pytest.mark.parametrize(
    ("check", "right", "wrong", "said"), EXAMPLES, ids=[e[3] for e in EXAMPLES]
)
def test_a_difference_is_named(check, right, wrong, said):
    assert said in reasons(check, right, wrong)


def test_a_result_that_changes_its_input_is_told_so():
    def clearing(tree):
        tree.pop("w")
        return {}

    assert "changed its input in place" in reasons(on_arrays, doubled, clearing)


ERRORS = [
    ("return {k.key for p, _ in jax.tree.leaves_with_path(tree) for k in p}", "`.key`"),
    ("return sorted(tree.items())", "no `.items`"),
    ("return jax.tree.map(lambda a, b: a, tree, {'other': 1})", "different keys"),
    ("return jax.jit(lambda x: 1 if x > 0 else 2)(1.0)", "is a tracer"),
    ("return jax.jit(lambda x: np.asarray(x))(1.0)", "use `jnp`"),
    ("return jax.grad(lambda x: x * 2.0)(3)", "floating-point"),
    ("return jax.grad(lambda x: x * 2.0)(jnp.ones(2))", "one number"),
    ("return jax.vmap(jnp.add)(jnp.ones(2), jnp.ones(3))", "same size"),
    ("return jax.tree.unflatten(jax.tree.structure(tree), [1] * 50)", "number of leaves"),
    ("return {[]: 1}", "no hash"),
    ("return jnp.ones(2) @ jnp.ones(3)", "shapes do not fit"),
    ("return it(tree)", "calls itself"),
    ("return None + 1", "a `None`"),
    ("return {} + 1", "are both of them leaves?"),
    ("return jax.jit(lambda x, c: x, static_argnums=1)(1.0, [])", "hashable"),
    ("raise TypeError('no')", "runs in"),
]


@pytest.mark.parametrize(("line", "said"), ERRORS, ids=[said for _, said in ERRORS])
def test_an_error_is_named_at_the_learners_line(line, said):
    text = reasons(on_trees, flat, written(f"def it(tree):\n  {line}"))
    assert said in text
    assert "Line 2, `" in text
    assert "?." not in text


def test_what_the_failing_cases_share_is_named():
    def wrong(tree):
        is_named = any(hasattr(node, "_fields") for node in flat_nodes(tree))
        return 41 if is_named else len(flat(tree))

    def flat_nodes(tree):
        found = []
        jax.tree.leaves(tree, is_leaf=lambda node: found.append(node) or False)
        return found

    def below_the_top(answer, rng):
        for tree in varied_trees(rng, lambda: 1, rich=0, without=["namedtuple"]):
            yield Case(answer, tree)
            yield Case(answer, [tree])

    text = reasons(below_the_top, lambda tree: len(flat(tree)), wrong)
    assert "The 2 cases that fail have one thing in common" in text
    assert text.endswith("a namedtuple below the top.")


def test_a_tag_is_a_feature():
    assert "under jit" in features_of(Case(len, {}, tags=("under jit",)))


def test_features_are_read_from_live_inputs():
    leaf = np.ones(2)
    assert "a leaf that occurs twice (the same object)" in features_of(Case(len, [leaf, leaf]))
    assert "keys that are not sorted" in features_of(Case(len, {"b": 1, "a": 2}))
    assert "a node of a registered class below the top" in features_of(Case(len, [Duo(1, 2)]))
    assert {"nan", "half precision"} <= set(features_of(Case(len, [np.float16("nan")])))


def test_the_nearest_misconception_is_introduced_and_not_spoken_as_certain():
    def wrong(number):
        return {3: 4, 2: 900, -1: 0, -4: 300, 5: 81}[number]

    def mistake(number):
        return wrong(number) if number != 5 else 6

    near = [("near", "You do this.", mistake)]
    text = reasons(on_numbers, lambda number: 2 * number + 100, wrong, near)
    assert text.startswith("Most of your results fit this mistake")
    assert text.endswith("You do this.")


def test_where_nothing_is_known_something_true_is_said():
    answers = iter(["b", 5, "c", [1]])
    assert reasons(on_numbers, lambda number: number, lambda number: next(answers, 7)) == (
        "In the smallest of 5 cases in which your result is wrong, it is a text where the task "
        "asks for an int."
    )


def test_where_every_case_fails_no_feature_is_blamed():
    assert "always wrong" not in reasons(on_trees, flat, lambda tree: -1)


def test_errors_that_come_before_all_else_have_to_be_alike():
    raised = observe_raised(TypeError("got 'a' at 0x12ab"))
    raised["message"] = skeleton(raised["message"])
    held = Misconception("m", "m", "", {0: raised, 1: raised})
    expected = made_exercise([observe(1), observe(2)], misconceptions=[held])

    def named(error):
        outcomes = [Outcome([], [], observe_raised(error))] * 2
        return bool(judge(expected, outcomes).misconceptions)

    assert named(TypeError("got 'b' at 0x99ff"))
    assert not named(TypeError("something else"))
    assert not named(type("OwnError", (TypeError,), {})("got 'a' at 0x12ab"))


def test_a_table_says_the_reasons():
    outcomes = [Outcome([observe([1])], ["[1]"], observe(None))]
    verdict = judge(made_exercise([observe([1])]), outcomes)
    assert words.explanation(verdict, {}, reveal=False) == " ".join(verdict.reasons)


def judged(pairs):
    expected = made_exercise([observe(right) for right, _ in pairs])
    return judge(expected, [Outcome([observe(got)], [""], observe(got)) for _, got in pairs])


@given(st.lists(values, min_size=1, max_size=5))
def test_a_right_answer_has_no_reason(results):
    assert judged([(each, each) for each in results]).reasons == ()


@given(st.lists(st.tuples(values, values), min_size=1, max_size=5))
def test_a_wrong_answer_has_one_reason_or_two(pairs):
    verdict = judged(pairs)
    assert len(verdict.reasons) <= 2
    assert bool(verdict.reasons) == (verdict.passed < verdict.cases)
    assert all(reason[0].isupper() and reason[-1] in ".?" for reason in verdict.reasons)


secrets = st.recursive(
    st.sampled_from([SECRET, float(SECRET), f"{SECRET}", np.full(2, SECRET, np.int32)]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.just(f"{SECRET}"), inner, max_size=1)
    ),
    max_leaves=4,
)


@given(st.lists(st.tuples(secrets, values), min_size=1, max_size=5))
def test_no_reason_tells_what_was_expected(pairs):
    assert str(SECRET) not in " ".join(judged(pairs).reasons)
