"""The code that other code needs: a prediction's, asked alone, and what decides an exercise."""

import pytest

from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.needed_code import MAX_DEFINITION_LINES, make_standalone, used_code
from tests.conftest import edit

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


SCRIPT = '''"""Checks."""
import jax
import numpy as np
from a import b as c, d

@check
def f(answer):
    return helper(answer) + LIMIT

LIMIT = 1
OTHER = 2
@decorated
class Made:
    size = c.OTHER

def helper(a):
    return Made(a), np
register(1)
'''
HELPER = "def helper(a):\n    return Made(a), np"
MADE = "@decorated\nclass Made:\n    size = c.OTHER"


def test_a_definition_needs_what_it_names_by_way_of_others_too():
    used = [": numpy as np", "a: b as c", "LIMIT = 1", MADE, HELPER, "register(1)"]
    check = "@check\ndef f(answer):\n    return helper(answer) + LIMIT"
    assert used_code(SCRIPT, "f") == [*used[:2], check, *used[2:]]
    assert used_code(SCRIPT, "OTHER") == ["OTHER = 2", "register(1)"]


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("exercises.md", "Prompt.", "Other words.", []),
        ("exercises.md", '"two"', '"too"', []),
        ("exercises.md", "## The first leaf", "## One leaf", []),
        ("answers.py", "You counted nodes.", "You did.", []),
        ("exercises.md", "points: 1", "points: 2", ["count_leaves"]),
        ("exercises.md", "return len(jax.tree.leaves(tree))", "return 1", ["count_leaves"]),
        ("exercises.md", "Return the first leaf of", "Return one leaf of", ["first_leaf"]),
        ("exercises.md", "import jax\n", "import jax, math\n", ["count_leaves", "first_leaf"]),
        ("../../checks/check_01_mini.py", "[3.5, (1, 2)]", "[4.5]", ["first_leaf"]),
        ("../../checks/check_01_mini.py", "import Case,", "import Case, acyclic,", []),
    ],
)
def test_a_digest_changes_with_what_decides_results_or_points(unbuilt, file, old, new, changed):
    before = read_sources(unbuilt).deciding_digests
    edit(unbuilt.sources / file, old, new)
    after = read_sources(unbuilt).deciding_digests
    assert [name for name in after if after[name] != before[name]] == changed
