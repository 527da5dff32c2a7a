"""What the cells that have run defined, and which definition is older than the last run."""

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_notebook

from pytree_course import executed_cells as executed


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs a cell in a shell whose cells are recorded."""
    monkeypatch.setattr(executed, "_defining_cells", {})
    monkeypatch.setattr(executed, "_stale_names", set())
    shell = InteractiveShell()
    executed.record_definitions(shell)
    return lambda source, cell_id=None: shell.run_cell(source, cell_id=cell_id)


def test_a_name_is_the_cells_that_last_defined_it(run):
    run("def f(): pass\nfrom math import pi", "f-answer")
    run("g = 1", "g-answer")
    run("f", "other")
    ids = [cell.id for cell in executed.defining_cells(["f", "pi", "g", "unknown"])]
    assert ids == ["f-answer", "g-answer"]
    assert executed.names_defined_by("f-answer") == ["f"]  # not what it imports
    run("def f(): return 1", "f-ours")
    assert executed.names_defined_by("f-answer") == []
    assert [executed.is_our_version("f", names) for names in (["f"], ["g"])] == [True, False]
    assert not executed.is_our_version("g", ["f"])


def test_a_name_is_stale_while_the_last_run_of_its_cell_failed(run):
    run("f = 1\ng = 2")
    run("f = 3\n1 / 0\ng = 4")
    assert [executed.is_any_stale([name]) for name in "fg"] == [False, True]
    assert executed.is_any_stale("fg")
    run("g = 5")
    assert not executed.is_any_stale("fg")


def test_only_an_unchanged_cell_of_a_lesson_is_meant_to_fail(course, monkeypatch):
    monkeypatch.chdir(course.root)
    tagged = new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]})
    cells = [tagged, new_code_cell("2 / 0")]
    nbformat.write(new_notebook(cells=cells), course.root / "notebooks" / "x.ipynb")
    meant = [executed.is_meant_by_lesson(source) for source in ("1 / 0", "2 / 0", "1 / 0 ")]
    assert meant == [True, False, False]
    (course.root / "notebooks" / "broken.ipynb").write_text("{")
    assert not executed.is_meant_by_lesson("3")
