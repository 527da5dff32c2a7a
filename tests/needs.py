"""What to do when a test's outside need, such as a browser, is not there."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test with a reason; in continuous integration nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(f"Missing, and may not be in CI: {what}", pytrace=False)
    pytest.skip(what)
