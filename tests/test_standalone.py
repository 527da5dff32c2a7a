"""A prediction's code, with the lines that define what it uses."""

import pytest

from pytree_course.sources.predictions import MOST_LINES, standing_alone

IMPORTS = "import jax"


@pytest.mark.parametrize(
    ("above", "code", "added"),
    [
        ([], "len([1])", ""),
        (["tree = [1]"], "len(tree)", "tree = [1]\n"),
        (["tree = [1]", "tree = [2]"], "len(tree)", "tree = [2]\n"),
        (["n = 1\nother = 3", "tree = [n]"], "len(tree)", "n = 1\ntree = [n]\n"),
        (["tree = {}", "tree['w'] = 1"], "len(tree)", "tree = {}\ntree['w'] = 1\n"),
        (["t = 1", "t = t + 1"], "print(t)", "t = 1\nt = t + 1\n"),
        (["@jax.jit\ndef f(x):\n    return x"], "f(1)", "@jax.jit\ndef f(x):\n    return x\n"),
        (["x = 1"], "for _ in range(2):\n    x = jax.numpy.sin(x)", "x = 1\n"),
        (["i = 5"], "[i for i in range(3)]", ""),
    ],
)
def test_the_definitions_of_its_names_come_first(above, code, added):
    assert standing_alone(code, "", [IMPORTS, *above]) == added + code


def test_a_name_in_the_question_is_defined_too():
    assert standing_alone("print(1)", "What is `len(g)`?", ["g = [1]"]) == "g = [1]\nprint(1)"


@pytest.mark.parametrize("above", [[], ["tree = [\n" + "    1,\n" * MOST_LINES + "]"]])
def test_what_is_not_defined_or_takes_too_many_lines_is_no_question(above):
    assert standing_alone("len(tree)", "", above) is None
