"""A plugin for pytest: nbval compares also the outputs that predictions hide from the learner."""

from typing import Any

from pytree_course.built import hides_outputs, show_outputs


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Restore the hidden outputs of collected cells."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and hides_outputs(cell):
            show_outputs(cell)
