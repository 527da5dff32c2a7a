"""The corpus is graded once, with all cases that are to be tested."""

import shutil
import sys

import pytest

from tests.hostile.case import Case
from tests.hostile.grading import GradedCorpus, grade_corpus


@pytest.fixture(scope="session")
def graded(request, tmp_path_factory) -> GradedCorpus:
    """Return the class of all cases that this session tests, graded."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not here; .ci/run installs it")
    tested = [item for item in request.session.items if not item.get_closest_marker("skip")]
    calls = [getattr(item, "callspec", None) for item in tested]
    cases = [call.params.get("case") for call in calls if call is not None]
    wanted = {case.id: case for case in cases if isinstance(case, Case)}
    return grade_corpus([*wanted.values()], tmp_path_factory.mktemp("corpus"))
