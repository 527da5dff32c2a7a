"""The lock, environment.yml and the lowest versions: what is declared is what works."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytree_course import launcher
from pytree_course.course import Course
from tests.browser.lab import Lab
from tests.environments import (
    NEWEST,
    OLDEST,
    PROJECT,
    ROOT,
    RUNNING,
    SUPPORTED,
    locked,
    made,
    run,
)

GROUPS = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
DECLARED = [Requirement(line) for group in GROUPS for line in group]
NAMES = {canonicalize_name(requirement.name) for requirement in DECLARED}


LEARNERS, DEVELOPERS = ROOT / "requirements.txt", ROOT / ".ci/requirements-dev.txt"
EVERY_PYTHON = [f"3.{n}" for n in range(launcher.OLDEST[1], launcher.NEWEST[1] + 1)]
SYSTEMS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin", "windows")


def read_lock(file: Path) -> list[Requirement]:
    lines = file.read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("file", [LEARNERS, DEVELOPERS], ids=lambda file: file.stem)
def test_a_lock_holds_exact_versions_and_no_addresses(file):
    for requirement in read_lock(file):
        assert re.fullmatch(r"==[\w.+!]+", str(requirement.specifier)), requirement
        assert requirement.url is None, requirement
    text = file.read_text("utf-8")
    assert not re.search(r"://|--hash|sha256|--(extra-)?index-url\s+\S+:|@ ", text)


def test_developers_have_all_that_is_declared_and_learners_versions_and_learners_less():
    learners, developers = ({*map(str, read_lock(file))} for file in (LEARNERS, DEVELOPERS))
    assert learners < developers
    assert {canonicalize_name(each.name) for each in read_lock(DEVELOPERS)} >= NAMES
    assert launcher.UV in developers
    for heavy in ("playwright", "mypy", "ruff", "hypothesis", "dask", "uv"):
        assert not any(line.startswith(f"{heavy}==") for line in learners)


@pytest.mark.parametrize("python", EVERY_PYTHON)
def test_the_lock_has_one_version_of_each_package_per_python(python):
    marks = {"python_version": python, "python_full_version": f"{python}.5"}
    lock = read_lock(DEVELOPERS)
    names = [r.name for r in lock if r.marker is None or r.marker.evaluate(marks)]
    assert len(names) == len(set(names))
    assert {"jax", "jaxlib", "numpy", "flax"} <= set(names)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", EVERY_PYTHON)
def test_each_package_for_learners_has_a_wheel_for_every_python_on_every_system(python, system):
    uv = (sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:")
    run(*uv, "--python-version", python, "--python-platform", system, LEARNERS)


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
@pytest.mark.parametrize(
    "tests", [["tests"], ["--all", "tests/authoring/test_lessons.py"]], ids=" ".join
)
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
def test_the_check_scripts_give_full_marks_to_the_solutions_with_the_lowest_versions(tmp_path):
    # On the public cases, as in a learner's copy: the author's answers are not run.
    shutil.copytree(ROOT / "checks", tmp_path / "checks")
    for files in Course(ROOT).lessons():
        # Its exit status is 0 if all are correct.
        run(lowest(), tmp_path / "checks" / files.check_script.name, files.solutions)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_lessons_run_with_the_lowest_versions(tmp_path):
    # Cells that are to raise an error are marked; any other error ends nbconvert.
    lessons = [files.notebook for files in Course(ROOT).lessons()]
    command = ("-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path)
    run(lowest(), *command, *lessons)


@pytest.mark.slow
@pytest.mark.thorough
def test_jupyterlab_starts_with_the_lowest_versions(tmp_path):
    with Lab(tmp_path, lowest()) as lab:
        assert "ERROR" not in lab.log.read_text("utf-8")
