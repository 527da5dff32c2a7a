"""Each supported Python gives full marks to the solutions, whatever a device makes of products."""

import sys

import pytest

from tests.environments import NEWEST, OLDEST, RUNNING, locked, run

FIRST, LAST = (int(version.removeprefix("3.")) for version in (OLDEST, NEWEST))
SUPPORTED = [f"3.{minor}" for minor in range(FIRST, LAST + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("version", SUPPORTED)
def test_all_solutions_have_full_marks(version):
    python = sys.executable if version == RUNNING else locked(version)
    run(python, "-m", "tests.full_marks")
