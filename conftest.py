"""How pytest runs the course's tests, and with nbval the cells of its built notebooks."""

import re
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from pytree_course.built import hides_outputs, show_outputs

GROUPS = (
    r"(.+\.ipynb)::",  # the cells of a notebook share a kernel
    r"(tests/browser/test_site\.py)::",  # one website
    r"(tests/browser)/",  # one JupyterLab
    r"(tests/test_nbgrader\.py)::",  # one environment with nbgrader
    r"(tests/test_class_grading\.py)::",
    r"(tests/test_wheel\.py)::",  # one wheel, installed
    r"(tests/hostile)/",  # one class
    r"(tests/test_lowest\.py)::",  # one environment with the lowest versions
    r"tests/test_lessons\.py::.+\[(\w+)\]",  # the author's answers, each run once in a process
)
"""What shares something costly runs in one process: the tests whose ids match alike."""


class GroupScheduling(LoadScopeScheduling):
    """Hands the groups, the largest first, and then the single tests to whichever process is free.

    xdist's own `--dist loadgroup` finds no groups under pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        found = (re.match(group, nodeid) for group in GROUPS)
        return next((match[1] for match in found if match), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    """Let tests that are run side by side be grouped."""
    return GroupScheduling(config, log)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give nbval's cells back the outputs that are hidden from the learner's sight."""
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and hides_outputs(cell):
            show_outputs(cell)
