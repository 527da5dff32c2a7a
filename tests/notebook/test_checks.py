"""In a real kernel: what checks say of answers, and of cells that did not run or that failed."""

import pytest

from tests import made_submissions
from tests.kernels import running_kernel

pytestmark = pytest.mark.slow
RIGHT = made_submissions.RIGHT["count_leaves"]

CHECK = "check.count_leaves(count_leaves)"
SET_UP = 'import jax\nfrom pytree_course import Checks\ncheck = Checks("01_mini")'


@pytest.fixture
def kernel(course):
    """Return a function that runs a cell in a kernel and returns its output."""
    with running_kernel(course.root / "exercises") as run:
        yield run


def test_the_course_of_a_first_exercise(kernel, course):
    assert "Run the set-up cell first" in kernel(CHECK)

    kernel(SET_UP)
    too_early = kernel(CHECK)
    assert "Run the answer cell above this cell first" in too_early
    assert "Traceback" not in too_early

    kernel("def count_leaves(tree):\n    raise NotImplementedError")
    assert "Not attempted" in kernel(CHECK)

    kernel("def count_leaves(tree):\n    size = len(tree)\n    return size / 0")
    error = kernel(CHECK)
    assert "Error" in error
    assert "ZeroDivisionError" in error
    assert "Line 3 of your cell: return size / 0" in error
    assert "pytree_course" not in error

    kernel("def count_leaves(tree):\n    return len(tree)")
    wrong = kernel(CHECK)
    assert "You counted the container's elements" in wrong
    assert "Hint 1 of 3" in kernel("check.count_leaves.hint()")
    assert "Hint 2 of 3" in kernel("check.count_leaves.hint()")
    assert "def count_leaves(tree): return len(...)" in kernel("check.count_leaves.hint()")
    assert "The solution opens after a correct answer" in kernel("check.count_leaves.solution()")

    kernel("def count_leaves(tree):\n    return len(jax.tree.leaves(tree))")
    right = kernel(CHECK)
    assert "Correct" in right
    assert "1 of 2 exercises, 1 of 3 points; core: done. Also here: The first leaf" in right
    assert "return len(jax.tree.leaves(tree))" in kernel("check.count_leaves.solution()")

    assert "Did you mean 'count_leaves'?" in kernel("check.count_leafs(count_leaves)")
    assert "run check.count_leaves(count_leaves)" in kernel("check.count_leaves()")
    assert len(course.progress_file.read_text().splitlines()) > 3


def test_a_definition_from_before_a_failed_run_is_judged_as_such_and_is_no_try(kernel, course):
    kernel(SET_UP)
    for broken in ("def count_leaves(tree:\n    pass", "1 / 0\n" + RIGHT):
        kernel(RIGHT.replace("jax.tree.leaves(tree)", "tree"))
        kernel(CHECK)
        tries = course.progress_file.read_bytes()
        kernel(broken)
        stale = kernel(CHECK)
        assert stale.startswith("→ Your answer cell's last run failed The check below judges the")
        assert "Not yet · Count the leaves" in stale
        assert course.progress_file.read_bytes() == tries
    kernel(RIGHT + "\n1 / 0")  # it is defined, and then something else fails
    assert kernel(CHECK).startswith("✓ Correct")


NOTING = """
import threading
from pytree_course.notebook import checks
said, show = threading.Event(), checks.display
checks.display = lambda *it, **them: (show(*it, **them), said.set())[0]
checks.SLOW_AFTER = 0
def count_leaves(tree):
    said.wait()
    return len(jax.tree.leaves(tree))
"""


def test_a_check_knows_which_cell_defined_an_answer_and_says_how_to_stop_slow_code(kernel):
    kernel(SET_UP, "setup")
    kernel(RIGHT.replace("def count_leaves", "def count_leafs"), "count_leaves-answer")
    shown = kernel(CHECK, "count_leaves-check")
    assert "defined `count_leafs`, but not `count_leaves`" in shown
    # Our own version is not taken for the reader's.
    kernel(RIGHT, "count_leaves-ours")
    assert "This is our version, not yours" in kernel(CHECK, "count_leaves-check")
    kernel(RIGHT, "count_leaves-answer")
    right = kernel(CHECK, "count_leaves-check")
    assert "✓ Correct" in right and "⚠" not in right
    kernel(RIGHT, "another")
    assert "⚠ This answer is not in the answer cell" in kernel(CHECK, "count_leaves-check")
    kernel(NOTING)
    shown = kernel(CHECK)
    assert shown.startswith("◷ Still running Your code is taking a while. To stop it, press ■")
    assert "✓ Correct" in shown


def test_a_set_up_cell_that_failed_is_told_from_one_that_did_not_run(kernel, course):
    kernel("import no_such_module\ncheck = 1")
    assert "The set-up cell, above the first exercise, failed" in kernel(CHECK)
    (course.root / "exercises" / "jax.py").touch()
    kernel(SET_UP.replace("import jax", "import jax.numpy"))
    assert "Python imports the file `jax.py` beside this notebook" in kernel(CHECK)


def test_what_an_answer_does_to_its_surroundings_does_not_disturb_a_check(kernel):
    kernel(SET_UP)
    assert "Run the answer cell" not in kernel("count_leaves(3)")  # not what a check lacks
    kernel("def count_leaves(tree):\n    return helper(tree)")
    assert "Run the answer cell" not in kernel(CHECK)
    kernel("def check(tree):\n    return jax.tree.leaves(tree)")
    kernel("def count_leaves(tree):\n    return len(check(tree))")
    assert "Correct" in kernel(CHECK)
    kernel("def first_leaf(tree):\n    raise GeneratorExit")
    assert "GeneratorExit" in kernel("check.first_leaf(first_leaf)")
