"""A check script as a command: it grades one notebook."""

import sys

import pytest

from pytree_course.cli.app import console
from pytree_course.cli.check_script import main


def test_a_narrow_terminal_shows_names_and_verdicts_whole(mini, notebook, monkeypatch, capsys):
    removed = "def count_leaves(tree):\n    return len(jax.tree_map(lambda leaf: leaf, tree))"
    notebook.answer("count_leaves", removed).save()
    monkeypatch.setattr(console, "width", 60)
    monkeypatch.setattr(sys, "argv", ["check_01_mini.py", str(mini.exercises)])
    with pytest.raises(SystemExit) as ended:
        main(str(mini.check_script))
    assert ended.value.code == 1
    shown = capsys.readouterr().out
    for words in ("Count the leaves", "○ Not attempted", "0 of 3 points, 0 of 2 exercises correct"):
        assert words in shown
    assert "This is the notebook as it was saved on 2" in shown
    assert "…" not in shown
