"""In a real kernel: a check run too early says which cell to run first."""

import re

import pytest
from jupyter_client.manager import start_new_kernel

from pytree_course.ipython import missing_cell


@pytest.fixture
def kernel(course):
    """Return a function that runs a cell in a kernel of this environment and returns its output."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(course.root / "exercises"))

    def run(cell):
        texts = []

        def collect(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif "data" in content:
                texts.append(content["data"]["text/plain"])
            elif "traceback" in content:
                texts.append("\n".join(content["traceback"]))

        client.execute_interactive(cell, output_hook=collect, timeout=60)
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", "".join(texts)).split())

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_course_of_a_first_exercise(kernel, course):
    assert "Run the set-up cell first" in kernel("check.count_leaves(count_leaves)")

    kernel('import jax\nfrom pytree_course import Checks, draw\ncheck = Checks("01_mini")')
    too_early = kernel("check.count_leaves(count_leaves)")
    assert "Run the answer cell of `count_leaves` first" in too_early
    assert "Traceback" not in too_early

    kernel("def count_leaves(tree):\n    raise NotImplementedError")
    assert "Not attempted" in kernel("check.count_leaves(count_leaves)")

    kernel("def count_leaves(tree):\n    size = len(tree)\n    return size / 0")
    error = kernel("check.count_leaves(count_leaves)")
    assert "Error" in error
    assert "ZeroDivisionError" in error
    assert "Line 3 of your cell: return size / 0" in error
    assert "pytree_course" not in error

    kernel("def count_leaves(tree):\n    return len(tree)")
    wrong = kernel("check.count_leaves(count_leaves)")
    assert "You counted the container's elements" in wrong
    assert "Hint 1 of 2" in kernel("check.count_leaves.hint()")
    assert "Hint 2 of 2" in kernel("check.count_leaves.hint()")
    assert "The solution opens after a correct answer" in kernel("check.count_leaves.solution()")

    kernel("def count_leaves(tree):\n    return len(jax.tree.leaves(tree))")
    right = kernel("check.count_leaves(count_leaves)")
    assert "Correct" in right
    assert "1 of 2 exercises, 1 of 3 points; core: done. Next: first_leaf" in right
    assert "return len(jax.tree.leaves(tree))" in kernel("check.count_leaves.solution()")

    assert "Did you mean 'count_leaves'?" in kernel("check.count_leafs(count_leaves)")
    assert "run check.count_leaves(count_leaves)" in kernel("check.count_leaves()")
    assert len(course.progress_file.read_text().splitlines()) > 3


def test_other_name_errors_look_as_ever(kernel):
    shown = kernel("no_such_name + 1")
    assert "Traceback" in shown
    assert "no_such_name" in shown


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("count_leaves", "count_leaves(3)"),
        ("helper", "check.count_leaves(count_leaves)"),
    ],
)
def test_only_a_check_that_lacks_its_own_names_is_explained(name, cell):
    assert missing_cell(NameError(name=name), cell) is None


def test_what_an_answer_does_to_its_surroundings_does_not_disturb_a_check(kernel):
    kernel('import jax\nfrom pytree_course import Checks\ncheck = Checks("01_mini")')
    kernel("def check(tree):\n    return jax.tree.leaves(tree)")
    kernel("def count_leaves(tree):\n    return len(check(tree))")
    assert "Correct" in kernel("check.count_leaves(count_leaves)")
    kernel("def first_leaf(tree):\n    raise GeneratorExit")
    assert "GeneratorExit" in kernel("check.first_leaf(first_leaf)")


@pytest.mark.parametrize("base", ["Exception", "BaseException"])
def test_an_error_whose_message_raises_is_shown(kernel, base):
    mute = f"class Mute({base}):\n    def __str__(self):\n        raise self\nraise Mute"
    assert "Mute" in kernel(mute)
