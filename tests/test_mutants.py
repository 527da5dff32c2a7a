"""Mutants and the memoriser: they find what the cases of a check do not tell apart."""

import ast

import pytest

from mutation_testing.__main__ import main
from mutation_testing.memoriser import refuses_memoriser
from mutation_testing.mutants import mutants
from mutation_testing.trials import refusal
from pytree_course.course import LessonFiles
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit
from tests.made_submissions import ELEMENTS, RIGHT

ANSWER = '''
@jax.jit
def answer(tree, n=2):
    """Return something."""
    if n > 1 and tree is not None:
        found = any(x == n for x in sorted(tree) if x)
        found += 1
    return jax.tree.map(f, tree, is_leaf=lambda x: x is None), tree[1:], np.float32(n)
'''
CHANGES = """
n > 1 → n >= 1
n > 1 → n > 2
n > 1 and tree is not None → n > 1 or tree is not None
sorted(tree) → tree
found += 1 → nothing
@jax.jit → nothing
jax.tree.map(f, tree, is_leaf=lambda x: x is None) → jax.tree.map(f, tree)
tree[1:] → tree[:]
np.float32 → np.float16
"""


def test_mutants_change_one_thing_each_and_say_what():
    made = {mutant.change: mutant for mutant in mutants("solution", ANSWER)}
    assert set(CHANGES.strip().splitlines()) <= made.keys()
    assert "for x in tree if x" in made["sorted(tree) → tree"].source
    sources = [mutant.source for mutant in made.values()]
    assert len(set(sources)) == len(sources)
    assert ast.unparse(ast.parse(ANSWER)) not in sources
    twice = "def f(x):\n    a = g(x)\n    return a, g(x)"
    names = {mutant.change for mutant in mutants("solution", twice)}
    assert {"g(x) → x, line 2", "g(x) → x, line 3"} <= names


@pytest.mark.slow
def test_what_a_check_does_not_tell_apart_is_printed(unbuilt, monkeypatch, capsys):
    # Without random trees, nothing shows whether the first leaf is taken, or the one at place 0.
    edit(unbuilt.check_script, "for _ in range(2):", "for _ in range(0):")
    edit(unbuilt.check_script, "[3.5, (1, 2)]", "[3.5]")
    monkeypatch.setenv("PYTREE_COURSE", str(unbuilt.root))
    main(["1", "first_leaf"])
    printed = capsys.readouterr().out
    assert "first_leaf: 3 cases" in printed
    assert "memoriser refused on 0 of 20 seeds" in printed
    assert "survives: solution: leaves[0] → leaves[-1]" in printed
    with pytest.raises(SystemExit, match="count_leaves, first_leaf"):
        main(["1", "no_such"])


def test_the_memoriser_passes_where_nothing_is_drawn(unbuilt):
    assert refuses_memoriser(read_sources(unbuilt), "count_leaves", 5)
    edit(unbuilt.check_script, "random_tree(rng)", "[1]")
    edited = LessonFiles(unbuilt.root, unbuilt.stem)
    assert not refuses_memoriser(read_sources(edited), "count_leaves", 5)


def test_a_refusal_names_the_case(unbuilt):
    sources = read_sources(unbuilt)
    assert refusal(sources, "count_leaves", RIGHT["count_leaves"], 0) is None
    wrong = ELEMENTS["count_leaves"]
    assert refusal(sources, "count_leaves", wrong, 0) == "on [None] it yields int 1"
