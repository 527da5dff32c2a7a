"""How pytest runs the built notebooks: cell by cell with nbval, a notebook in one process."""

from typing import Any

import pytest

from pytree_course.built import hides_outputs, show_outputs


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give nbval's cells their hidden outputs back, and keep those of a notebook together."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is None:
            continue
        item.add_marker(pytest.mark.xdist_group(str(item.path)))
        # The outputs of predictions are hidden from the learner's sight, not from comparison.
        if hides_outputs(cell):
            show_outputs(cell)
