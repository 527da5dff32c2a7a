"""Input features: trees are drawn by their names, and cases are seen to have them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytree_course.authoring.validation import features_shown, find_mistakes_in_answers
from pytree_course.cases.case import Case
from pytree_course.cases.features_of_cases import features_of, shown_by
from pytree_course.cases.input_features import FEATURE_GROUPS, FEATURES, named
from pytree_course.cases.random_inputs import VALUES, varied_trees
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

NAMES = named(FEATURE_GROUPS)


def drawn(seed, *names, **options):
    """Draw the trees with these features, and no others."""
    rng = np.random.default_rng(seed)
    without = [name for name in NAMES if name not in names]
    trees = varied_trees(rng, lambda: rng.random(2) + 1, without=without, rich=0, **options)
    return [shown_by(Case(len, tree)) for tree in trees]


@pytest.mark.parametrize("name", [name for name, each in FEATURES.items() if each.tree])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_a_drawn_feature_is_seen_and_a_plain_tree_has_none(name, seed):
    shown = drawn(seed, name)
    assert len(shown) >= 2
    assert any(name in each for each in shown)
    assert set() in shown


@pytest.mark.parametrize("name", VALUES)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_an_array_of_a_kind_is_seen(name, seed):
    assert any(name in shown for shown in drawn(seed, name, values=np.asarray))
    assert not any(name in shown for shown in drawn(seed, values=np.asarray))


def test_a_group_stands_for_its_names_and_a_name_that_is_no_feature_is_refused():
    assert named(["depth", "nan"]) == [*FEATURE_GROUPS["depth"], "nan"]
    assert named(["trees"]) == named(["nodes", "keys", "depth"])
    with pytest.raises(ValueError, match="no input features: tupel"):
        varied_trees(np.random.default_rng(0), lambda: 1, without=["tupel"])


def test_a_case_shows_equal_numbers_of_several_types_and_what_its_inputs_do_not():
    assert "equal numbers" in shown_by(Case(len, [8, np.int64(8)]))
    assert "equal numbers" not in shown_by(Case(len, [8, 8, True, 1.5]))
    case = Case(len, {}, shows=("after a trace",), tags=("under jit",))
    assert "after a trace" in shown_by(case)
    words = FEATURE_GROUPS["second looks"]["after a trace"]
    assert {words, "under jit"} <= {*features_of(case)}


def told_of(lesson):
    found = find_mistakes_in_answers(read_sources(lesson))
    return [mistake.message.partition(": ")[2] for mistake in found]


def test_the_build_refuses_wrong_names_and_what_is_there_all_the_same(unbuilt):
    script = unbuilt.check_script
    edit(script, "(without=SMALL)\ndef count", '(without=SMALL | {"None": "why"})\ndef count')
    edit(script, "[3.5, (1, 2)])", '[3.5, (1, 2)], shows=("afte a trace",))')
    assert told_of(unbuilt) == [
        "left out, but its cases have it: None",
        "no input features: afte a trace",
    ]


def test_the_build_refuses_what_is_missing_by_groups(unbuilt):
    few = '(without={"trees": "why", "values": "why"})\ndef count'
    edit(unbuilt.check_script, "(without=SMALL)\ndef count", few)
    sources = read_sources(unbuilt)
    marks = features_shown(sources, sources.exercises["count_leaves"])
    assert (marks["None"], marks["dict in a tuple"], marks["file there"]) == ("✓", "why", "")
    missing = told_of(unbuilt)
    assert len(missing) == 3
    outside = "outside (all: file there, other dtypes, other keys)"
    assert missing[-1] == f"missing in its cases and in `without`: {outside}"
