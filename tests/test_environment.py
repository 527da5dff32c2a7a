"""The lock and environment.yml; and what is built is the same on the oldest and newest Python."""

import json
import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytree_course.course import Course
from tests.environments import (
    CONDA,
    NEWEST,
    OLDEST,
    PROJECT,
    ROOT,
    RUNNING,
    locked,
    pip_section,
    run,
)
from tests.lesson_reads import each_of


@pytest.fixture(scope="module")
def lock() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def declared() -> set[str]:
    extras = PROJECT["optional-dependencies"].values()
    return {
        canonicalize_name(Requirement(line).name)
        for line in [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    }


def test_the_lock_holds_exact_versions_and_no_addresses(lock):
    for requirement in lock:
        assert re.fullmatch(r"==[\w.+!]+", str(requirement.specifier)), requirement
        assert requirement.url is None, requirement
    text = (ROOT / "requirements.txt").read_text("utf-8")
    assert not re.search(r"://|--hash|sha256|--(extra-)?index-url\s+\S+:|@ ", text)


def test_the_lock_covers_what_the_project_asks_for(lock):
    assert declared() <= {canonicalize_name(requirement.name) for requirement in lock}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
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
    assert named <= declared()
    assert named <= {requirement.name for requirement in lock}


OTHERS = sorted({OLDEST, NEWEST} - {RUNNING})
PAGES = Course(ROOT).with_sources()
another_python = pytest.mark.parametrize("version", OTHERS)


@pytest.mark.slow
@pytest.mark.thorough
@another_python
@each_of(PAGES)
def test_another_python_yields_what_the_built_files_hold(version, files):
    # What checks expect, what misconceptions yield, and each stored output.
    built = f"tests/test_lessons.py::test_built_files_are_what_their_sources_make[{files.stem}]"
    nbval = ("--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider")
    notebooks = [file for file in (files.notebook, files.solutions) if file.exists()]
    said = run(locked(version), "-m", "pytest", *nbval, built, *notebooks)
    assert re.search(r"\d+ passed", said), said
    assert "skipped" not in said


@pytest.mark.slow
@pytest.mark.thorough
@another_python
def test_the_types_are_right_with_another_pythons_packages(version):
    python = locked(version)
    run(python, "-m", "mypy", "--cache-dir", python.parents[1] / "mypy_cache", "src")


@pytest.mark.slow
@pytest.mark.reads("environment.yml", "src/pytree_course/jupyter")
def test_settings_come_with_the_environment_of_environment_yml():
    share = locked(NEWEST).parents[1]
    assert (share / "share/jupyter/lab/settings/overrides.d/pytree-course.json").exists()
    assert (share / "etc/ipython/ipython_kernel_config.py").exists()
    front_end = share / "share/jupyter/labextensions/pytree-course"
    package = json.loads((front_end / "package.json").read_text("utf-8"))
    assert (front_end / package["jupyterlab"]["_build"]["load"]).exists()
