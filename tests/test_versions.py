"""Each supported Python gives full marks to the solutions, whatever a device makes of products."""

import sys

import pytest

from tests.environments import RUNNING, SUPPORTED, locked, run


@pytest.mark.slow
@pytest.mark.parametrize("version", SUPPORTED)
def test_all_solutions_have_full_marks(version):
    python = sys.executable if version == RUNNING else locked(version)
    run(python, "-m", "tests.full_marks")
