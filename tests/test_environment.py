"""The lock, environment.yml and the lowest versions: what is declared is what works."""

import json
import re
import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pytree_course.course import Course
from tests.browser.lab import Lab
from tests.environments import (
    CONDA,
    NEWEST,
    OLDEST,
    PROJECT,
    ROOT,
    RUNNING,
    SUPPORTED,
    locked,
    made,
    pip_section,
    run,
)

GROUPS = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
DECLARED = [Requirement(line) for group in GROUPS for line in group]
NAMES = {canonicalize_name(requirement.name) for requirement in DECLARED}


@pytest.fixture(scope="module")
def lock() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_the_lock_holds_exact_versions_of_all_that_is_declared_and_no_addresses(lock):
    for requirement in lock:
        assert re.fullmatch(r"==[\w.+!]+", str(requirement.specifier)), requirement
        assert requirement.url is None, requirement
    text = (ROOT / "requirements.txt").read_text("utf-8")
    assert not re.search(r"://|--hash|sha256|--(extra-)?index-url\s+\S+:|@ ", text)
    assert {canonicalize_name(requirement.name) for requirement in lock} >= NAMES


@pytest.mark.parametrize("python", SUPPORTED)
def test_the_lock_has_one_version_of_each_package_per_python(lock, python):
    marks = {"python_version": python, "python_full_version": f"{python}.5"}
    names = [r.name for r in lock if r.marker is None or r.marker.evaluate(marks)]
    assert len(names) == len(set(names))
    assert {"jax", "jaxlib", "numpy", "flax"} <= set(names)


def test_environment_yml_names_the_main_packages(lock):
    assert CONDA["name"] == "pytree-course"
    assert CONDA["channels"] == ["conda-forge"]
    lines = pip_section()
    assert "--requirement requirements.txt" in lines
    assert "--editable ." in lines
    named = {line for line in lines if not line.startswith("-")}
    assert {"jax", "equinox", "flax", "optax", "chex", "jupyterlab", "nbval"} <= named
    assert named <= NAMES
    assert named <= {requirement.name for requirement in lock}


@pytest.mark.slow
def test_settings_come_with_the_environment_of_environment_yml():
    share = locked(NEWEST).parents[1]
    assert (share / "share/jupyter/lab/settings/overrides.d/pytree-course.json").exists()
    assert (share / "etc/ipython/ipython_kernel_config.py").exists()
    front_end = share / "share/jupyter/labextensions/pytree-course"
    package = json.loads((front_end / "package.json").read_text("utf-8"))
    assert (front_end / package["jupyterlab"]["_build"]["load"]).exists()


# --- before a release


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("version", [version for version in SUPPORTED if version != RUNNING])
@pytest.mark.parametrize("tests", [["tests"], ["--all", "tests/test_lessons.py"]], ids=" ".join)
def test_all_tests_pass_on_another_python(version, tests):
    run(locked(version), "-m", "pytest", "-p", "no:cacheprovider", *tests, timeout=None)


# --- the lowest versions that pyproject.toml allows


def lowest() -> Path:
    packages = ("--resolution", "lowest-direct", "--editable", ".")
    return made("lowest", OLDEST, *packages)


def test_every_dependency_has_a_lower_bound_and_no_other():
    for requirement in DECLARED:
        assert [each.operator for each in requirement.specifier] == [">="], requirement.name


@pytest.mark.slow
@pytest.mark.thorough
def test_the_lowest_versions_are_those_that_are_declared():
    # Another package may need more than ours ask for: then the bound is untried.
    needed = [Requirement(line) for line in PROJECT["dependencies"]]
    code = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    installed = run(lowest(), "-c", code, *(each.name for each in needed)).split()
    assert all(
        Version(version) in SpecifierSet(str(each.specifier).replace(">=", "=="))
        for each, version in zip(needed, installed, strict=True)
    ), dict(zip(map(str, needed), installed, strict=True))


@pytest.mark.slow
@pytest.mark.thorough
def test_the_check_scripts_give_full_marks_to_the_solutions_with_the_lowest_versions(tmp_path):
    # On the public cases, as in a learner's copy: the author's answers are not run.
    shutil.copytree(ROOT / "checks", tmp_path / "checks")
    for files in Course(ROOT).lessons():
        # Its exit status is 0 if all are correct.
        run(lowest(), tmp_path / "checks" / files.check_script.name, files.solutions)


@pytest.mark.slow
@pytest.mark.thorough
def test_jupyterlab_starts_with_the_lowest_versions(tmp_path):
    with Lab(tmp_path, lowest()) as lab:
        assert "ERROR" not in lab.log.read_text("utf-8")
