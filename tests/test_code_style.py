"""The code's format, its likely mistakes and its types, as pyproject.toml asks for them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["src", "tests", "checks", ".ci", "course.py"]


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


def test_the_front_end_is_one_short_script():
    script = ROOT / "src/pytree_course/jupyter" / "lab_extension.js"
    assert len(script.read_text("utf-8").splitlines()) <= 160
    if (node := shutil.which("node")) is None:
        pytest.skip("Node.js, which reads the script without running it")
    subprocess.run([node, "--check", script], check=True)
