"""Mutants and the memoriser: what cases do not tell apart; no check passes without an answer."""

import pytest

from mutation_testing.__main__ import main
from mutation_testing.memoriser import refuses_memoriser
from pytree_course.course import Course, LessonFiles
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT, edit

SEEDS = (101, 102, 103)
EXERCISES = [
    pytest.param(sources, name, id=name)
    for sources in map(read_sources, Course(ROOT).lessons())
    for name, exercise in sources.graded.items()
    if not exercise.is_prediction  # its lines are the same for everybody
]


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


@pytest.mark.slow
@pytest.mark.parametrize(("sources", "name"), EXERCISES)
def test_public_results_do_not_pass_on_fresh_cases(sources, name):
    assert all(refuses_memoriser(sources, name, seed) for seed in SEEDS)
