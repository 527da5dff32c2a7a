"""What a check reports of its cases, and the limits within which grading believes it."""

import json

import pytest

from pytree_course.running.outcomes import (
    MAX_LINE,
    MAX_LINES,
    MAX_OUTCOMES,
    MAX_SHOWN,
    MAX_WRITTEN,
    read_report,
    report,
)
from pytree_course.running.run_cases import run_check
from tests.judging.test_judge import doubled


def test_outcomes_survive_json():
    outcomes = run_check(doubled, [lambda values: values[0]], 0)
    assert read_report(report(outcomes)) == outcomes


OUTCOME: dict[str, object] = {"inputs": [], "written": [], "observation": ["none"]}


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": [["none"]]},
        {"observation": ["string", "str", "\0"]},
        {"inputs": [["none"]] * 30_000, "written": ["None"] * 30_000},
        {"line": {"number": float("inf"), "text": ""}},
        {"line": {"number": 0, "text": "\0"}},
        {"line": {"number": 0, "text": "x" * (MAX_LINE + 1)}},
        {"line": {"number": MAX_LINES + 1, "text": ""}},
        {"note": "x" * (MAX_SHOWN + 1)},
        {"printed": "\ud800"},
        {"predicted": "\x1b"},
        {"inputs": [["none"]], "written": ["x" * (MAX_WRITTEN + 1)]},
        {"inputs": [["none"]], "written": ["\0"]},
    ],
)
def test_what_no_check_reports_is_refused(changes):
    line = {"number": MAX_LINES, "text": "x" * MAX_LINE}
    most = OUTCOME | {"line": line, "note": "x" * MAX_SHOWN}
    most |= {"inputs": [["none"]], "written": ["x" * MAX_WRITTEN]}
    assert read_report(json.dumps([most] * MAX_OUTCOMES))
    with pytest.raises(ValueError, match=r"."):
        read_report(json.dumps([OUTCOME | changes]))


def test_a_report_is_one_text_of_so_many_outcomes():
    for wrong in (json.dumps([OUTCOME] * 1_001), None, [], b"[]"):
        with pytest.raises(ValueError, match=r"."):
            read_report(wrong)
