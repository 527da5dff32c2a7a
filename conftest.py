"""Lets nbval compare the outputs that predictions hide from the learner's sight."""

from typing import Any

from pytree_course.built import hides_outputs, show_outputs


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give nbval's cells their hidden outputs back."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and hides_outputs(cell):
            show_outputs(cell)
