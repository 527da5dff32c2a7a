"""The code: its format, likely mistakes and types; imports run one way."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "pytree_course"
MODULES = sorted(file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py"))
LAYERS = [
    {"built", "released_files", "compiled", "course", "nbgrader"}
    | {"executed_cells", "jax_configuration", "public_reports", "rendering", "texts"},
    {"observing"},
    {"drawing"},
    {"cases"},
    {"running"},
    {"judging"},
    {"learner"},
    {"sources"},
    {"ipython", "notebook"},
    {"authoring"},
    {"grading"},
    {"class_grading"},
    {"board"},
    {"reports"},
    {"cli"},
]
"""From the lowest to the highest: a module imports from its own layer and from lower ones."""
APART = {"__init__", "__main__", "launcher", "server", "wheel_hook", "jupyter"}
"""Not imported by the rest, and loading what they need when they need it."""
FOLDERS = ("src", "tests", "checks", ".ci", "course.py")


@pytest.mark.slow
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


def layer(name: str) -> int | None:
    """Return how high a module or package of the course is."""
    return next((height for height, names in enumerate(LAYERS) if name in names), None)


def name_of(module: Path) -> str:
    return ".".join(module.with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(module) for module in MODULES}


def imported(module: Path) -> set[str]:
    """Return the modules of the course that a module imports, those inside of functions too."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    paths = {name.removeprefix("pytree_course.") for name in names}
    return {path if path in NAMES else path.rpartition(".")[0] for path in paths} & NAMES


def test_no_module_imports_itself_by_way_of_others():
    below = {name_of(module): imported(module) for module in MODULES}
    del below["__init__"]  # it imports each name of the notebooks when it is asked for
    TopologicalSorter(below).prepare()


@pytest.mark.parametrize("module", MODULES, ids=Path.as_posix)
def test_imports_run_down_only(module):
    own = module.parts[0].removesuffix(".py")
    if own in APART:
        return
    height = layer(own)
    assert height is not None, f"give {own} a place in LAYERS"
    for name in imported(module):
        other = name.split(".")[0]
        assert layer(other) is not None and layer(other) <= height, f"{module} imports {name}"
        assert other != "authoring" or own in ("authoring", "cli"), f"{module} imports {name}"


def test_the_architecture_page_names_every_room_and_no_other():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert named == sorted({module.parts[0] for module in MODULES if len(module.parts) > 1})
