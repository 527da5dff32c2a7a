"""A learner's hour: an answer is wrong, then right, and every verdict is seen where it belongs."""

import pytest

from tests.browser.lab import Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

WRONG = "def count_leaves(tree):\n    return jax.tree.structure(tree).num_nodes"
FAILING = "def count_leaves(tree):\n    size = tree.size\n    return size"
RIGHT = "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))"


def test_an_answer_from_not_attempted_to_correct(visit: Visit):
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    exercises.run("count_leaves-check")
    assert "Run the set-up cell first" in exercises.output_text("count_leaves-check")

    exercises.run("setup", "count_leaves-check")
    assert "Run the answer cell" in exercises.output_text("count_leaves-check")

    exercises.run("count_leaves-answer", "count_leaves-check")
    assert "Not attempted" in exercises.output_text("count_leaves-check")

    for answer, verdict in (
        (FAILING, "Line 2 of your cell: size = tree.size"),
        (WRONG, "Not yet"),
        (RIGHT, "Correct"),
    ):
        exercises.write("count_leaves-answer", answer)
        exercises.run("count_leaves-answer", "count_leaves-check")
        assert verdict in exercises.output_text("count_leaves-check")
    assert "1 of 11 exercises" in exercises.output_text("count_leaves-check")
    assert visit.other_hosts == []


def test_a_wrong_answer_is_pictured_beside_what_is_expected(visit: Visit):
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    exercises.run("setup", "nan_paths-answer", "nan_paths-check")
    output = exercises.output("nan_paths-check")
    assert output.get_by_role("img").count() == 3
    for caption in ("Given", "Yours", "Expected"):
        assert output.get_by_text(caption, exact=True).count() == 1
