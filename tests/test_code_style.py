"""The code's format, its likely mistakes and its types, as pyproject.toml asks for them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["src", "tests", "checks", "benchmarks", "jupyter", "course.py"]


@pytest.mark.parametrize(
    "tool",
    [["ruff", "format", "--check"], ["ruff", "check", "--no-fix"], ["mypy"]],
    ids=["format", "lint", "types"],
)
def test_code_style(tool):
    present = [name for name in FOLDERS if (ROOT / name).exists()]
    done = subprocess.run(
        [sys.executable, "-m", *tool, *present],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout
