"""Random inputs: from the same seed always the same, for expected results are stored."""

from pathlib import Path

import numpy as np

from pytree_course.cases import random_inputs as inputs
from pytree_course.running.run_cases import stable_repr
from tests.stored import assert_as_stored


def draw(seed):
    """Draw some of everything."""
    rng = np.random.default_rng(seed)

    def number():
        return int(rng.integers(1, 100))

    yield from (inputs.random_tree(rng) for _ in range(9))
    yield inputs.random_words(rng, 3)
    yield inputs.random_model(rng, number, lambda: "other")
    yield inputs.vector(rng).tolist(), inputs.matrix(rng).tolist()
    yield str(inputs.vector(rng, int).dtype)
    yield inputs.shuffled(rng, "abcdef")
    yield from inputs.small_trees(rng, number, edges=["edge"])


def test_a_seed_draws_what_it_drew_when_results_were_stored():
    drawn = "".join(f"{stable_repr(it)}\n" for seed in (5, 6) for it in draw(seed))
    assert_as_stored(Path(__file__).with_name("drawn.txt"), drawn)  # and build all lessons again
