"""The lock, environment.yml, and lesson 1 in the environment that environment.yml describes."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytree_course.launcher import child_environment
from tests.needs import missing

ROOT = Path(__file__).parents[1]
LESSON = "01_leaves.ipynb"


@pytest.fixture(scope="module")
def lock() -> list[Requirement]:
    """Return what the lock asks for."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def conda() -> dict[str, Any]:
    """Return what environment.yml says."""
    return yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))


def pip_section(conda: dict[str, Any]) -> list[str]:
    """Return the lines that conda hands to pip."""
    return next(part["pip"] for part in conda["dependencies"] if isinstance(part, dict))


def declared() -> set[str]:
    """Return the names of all packages that pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return {
        canonicalize_name(Requirement(line).name)
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]
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


def test_environment_yml_names_the_main_packages(conda, lock):
    assert conda["name"] == "pytree-course"
    assert conda["channels"] == ["conda-forge"]
    lines = pip_section(conda)
    assert "--requirement requirements.txt" in lines
    assert "--editable ." in lines
    named = {line for line in lines if not line.startswith("-")}
    assert {"jax", "equinox", "flax", "optax", "chex", "jupyterlab", "nbval"} <= named
    assert named <= declared()
    assert named <= {requirement.name for requirement in lock}


def find_python(version: str) -> str | None:
    """Return a Python of this version from PATH or from pyenv, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = shutil.which(f"python{version}")
    candidates = [str(python) for python in sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    for candidate in [on_path, *candidates] if on_path else candidates:
        # pyenv's shims are on PATH also for versions that they refuse to run.
        answer = subprocess.run(
            [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
        )
        if answer.stdout.strip() == version:
            return candidate
    return None


def run(*command: str | Path) -> str:
    """Run a command of this test; if it fails, show what it said."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=child_environment(),
        timeout=900,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_lesson_1_runs_in_the_environment_of_environment_yml(conda, tmp_path):
    (pinned,) = (
        part for part in conda["dependencies"] if isinstance(part, str) and "python" in part
    )
    version = pinned.removeprefix("python=")
    python = find_python(version)
    if python is None:
        missing(f"Python {version}, which environment.yml asks for")
    fresh = tmp_path / "environment"
    run(python, "-m", "venv", "--without-pip", fresh)
    inside = fresh / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # The very lines that conda hands to pip; uv installs the same in a fraction of the time.
    arguments = [word for line in pip_section(conda) for word in shlex.split(line)]
    # Not with --compile-bytecode: lesson 1 imports a small part of it all.
    run(sys.executable, "-m", "uv", "pip", "install", "--python", inside, *arguments)

    notebooks = [ROOT / folder / LESSON for folder in ("notebooks", "solutions")]
    nbval = ("--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider")
    said = run(inside, "-m", "pytest", *nbval, *notebooks)
    assert re.search(r"\d+ passed", said), said
    # The settings of JupyterLab and of the kernels have come along.
    assert (fresh / "share/jupyter/lab/settings/overrides.d/pytree-course.json").exists()
    assert (fresh / "etc/ipython/ipython_kernel_config.py").exists()
