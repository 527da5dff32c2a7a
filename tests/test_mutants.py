"""Mutants and the memoriser: they find what the cases of a check do not tell apart."""

import pytest

from mutation_testing.__main__ import main
from mutation_testing.memoriser import refuses_memoriser
from pytree_course.course import LessonFiles
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit


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
