"""The lowest versions that pyproject.toml allows: checks and JupyterLab work with them."""

import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pytree_course.course import Course
from tests.browser.lab import Lab
from tests.environments import OLDEST, PROJECT, ROOT, made, run

GROUPS = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
DECLARED = [Requirement(line) for group in GROUPS for line in group]
# The review shows nothing that JAX made.
PAGES = [files for files in Course(ROOT).with_sources() if files.stem != "review"]


def lowest() -> Path:
    packages = ("--resolution", "lowest-direct", "--editable", ".")
    return made("lowest", OLDEST, *packages)


def test_every_dependency_has_a_lower_bound_and_no_other():
    for requirement in DECLARED:
        assert [each.operator for each in requirement.specifier] == [">="], requirement.name


def test_a_lesson_says_which_jax_it_was_made_with():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    locked = [Requirement(line) for line in lines if line.startswith("jax==")]
    (on_311, newer) = (str(each.specifier).removeprefix("==") for each in locked)
    newer = ".".join(newer.split(".")[:2])
    for files in PAGES:
        text = (files.sources / "lesson.md").read_text("utf-8")
        assert f"ade with JAX {newer} (on Python 3.11: JAX {on_311})" in text, files.stem
    (jax,) = (each for each in DECLARED if each.name == "jax")
    start = (ROOT / "sources" / "00_start_here" / "lesson.md").read_text("utf-8")
    assert f"work from JAX {str(jax.specifier).removeprefix('>=')} on" in start


@pytest.mark.slow
@pytest.mark.reads("pyproject.toml")
def test_the_lowest_versions_are_those_that_are_declared():
    # Another package may need more than ours ask for: then the bound is untried.
    needed = [Requirement(line) for line in PROJECT["dependencies"]]
    code = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    found = run(lowest(), "-c", code, *(each.name for each in needed)).split()
    assert all(
        Version(version) in SpecifierSet(str(each.specifier).replace(">=", "=="))
        for each, version in zip(needed, found, strict=True)
    ), dict(zip(map(str, needed), found, strict=True))


@pytest.mark.slow
@pytest.mark.reads("pyproject.toml")
def test_the_check_scripts_give_full_marks_to_the_solutions(tmp_path):
    # On the public cases, as in a learner's copy: the author's answers are not run.
    shutil.copytree(ROOT / "checks", tmp_path / "checks")
    for files in Course(ROOT).lessons():
        # Its exit status is 0 if all are correct.
        run(lowest(), tmp_path / "checks" / files.check_script.name, files.solutions)


@pytest.mark.slow
@pytest.mark.reads(
    "src/pytree_course/jupyter", "src/pytree_course/server.py", "tests/browser/lab.py"
)
def test_jupyterlab_starts(tmp_path):
    with Lab(tmp_path, lowest()) as lab:
        assert "ERROR" not in lab.log.read_text("utf-8")
