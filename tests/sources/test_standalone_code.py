"""A prediction's code, asked alone: with the lines that define what it uses."""

import pytest

from pytree_course.sources.standalone_code import MAX_DEFINITION_LINES, make_standalone

IMPORTS = "import jax"


@pytest.mark.parametrize(
    ("above", "code", "added"),
    [
        ([], "len([1])", ""),
        # Blank lines are as in a cell.
        (["n = 1\n\n\ndef f():\n    return n"], "f()", "n = 1\n\n\ndef f():\n    return n\n\n"),
        (["tree = [1]"], "len(tree)", "tree = [1]\n\n"),
        (["n = 1\nother = 3", "tree = [2]", "tree = [n]"], "len(tree)", "n = 1\n\ntree = [n]\n\n"),
        (["tree = {}", "tree['w'] = 1"], "len(tree)", "tree = {}\n\ntree['w'] = 1\n\n"),
        (["t = {'a': []}", "t['a'].append(1)"], "t", "t = {'a': []}\n\nt['a'].append(1)\n\n"),
        (["t = 1", "t = t + 1"], "print(t)", "t = 1\n\nt = t + 1\n\n"),
        (["@jax.jit\ndef f(x):\n    return x"], "f(1)", "@jax.jit\ndef f(x):\n    return x\n\n"),
        (["x = 1"], "for _ in range(2):\n    x = jax.numpy.sin(x)", "x = 1\n\n"),
        (["i = 5"], "[i for i in range(3)]", ""),
        (["t = [1]", "jax.tree.map(print, t)", "jax.set(t)"], "t", "t = [1]\n\njax.set(t)\n\n"),
        (["t = [1]", "if t:\n    t[0] = 2"], "t", "t = [1]\n\nif t:\n    t[0] = 2\n\n"),
        (["m = 1", "def f(n):\n    return f(m)"], "f", "m = 1\n\ndef f(n):\n    return f(m)\n\n"),
        (["n = 1", "%timeit n\nn = 2"], "n", "n = 1\n\n"),  # a magic is no Python
    ],
)
def test_code_asked_alone_begins_with_the_definitions_it_needs(above, code, added):
    assert make_standalone(code, "", [IMPORTS, *above]) == added + code


def test_a_name_in_the_question_is_defined_in_few_lines():
    assert make_standalone("print(1)", "What is `len(g)`?", ["g = [1]"]) == "g = [1]\n\nprint(1)"
    most = "g = [\n" + "    1,\n" * (MAX_DEFINITION_LINES - 2) + "]"
    assert make_standalone("len(g)", "", [most]) == f"{most}\n\nlen(g)"
    for above in ([], [most, "g.append(1)"]):
        assert make_standalone("len(g)", "", above) is None
    assert make_standalone("%timeit 1", "", []) is None
