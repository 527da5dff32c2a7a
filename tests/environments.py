"""Environments that tests need beside their own: uv makes each once, and tests share it."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from pytree_course.launcher import child_variables, wait_for_turn
from tests.needs import missing

ROOT = Path(__file__).parents[1]
KEPT = Path(sys.prefix) / "cache" / "environments"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONDA: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
OLDEST = PROJECT["requires-python"].removeprefix(">=")
[NEWEST] = (
    part.removeprefix("python=")
    for part in CONDA["dependencies"]
    if isinstance(part, str) and part.startswith("python")
)
RUNNING = "{}.{}".format(*sys.version_info)
SUPPORTED = [f"3.{n}" for n in range(int(OLDEST[2:]), int(NEWEST[2:]) + 1)]
LOCKS = ("requirements.txt", ".ci/requirements-dev.txt")
SOURCES = ("pyproject.toml", *LOCKS, "environment.yml", "src/pytree_course/jupyter")
"""What is installed from this repository, but for code, which an editable installation reads."""


def pip_section() -> list[str]:
    """Return the lines of environment.yml that conda hands to pip."""
    return next(part["pip"] for part in CONDA["dependencies"] if isinstance(part, dict))


def locked(version: str) -> Path:
    """Return a Python of this version that has what environment.yml and the tests ask for."""
    packages = shlex.split(" ".join([*pip_section(), f"--requirement {LOCKS[1]}"]))
    return made(f"locked-{version}", version, *packages)


def made(name: str, version: str, *installed: str) -> Path:
    """Return the Python of an environment in which uv has installed what it is given."""
    base = find_python(version)
    if base is None:
        missing(f"Python {version} is not installed here")
    folder = KEPT / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "made-of"
    made_of = "\n".join([base, *installed, digest()])
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("a+b") as lock:  # another test may be making it
        wait_for_turn(lock.fileno())
        if not stamp.exists() or stamp.read_text("utf-8") != made_of:
            shutil.rmtree(folder, ignore_errors=True)
            uv = (sys.executable, "-m", "uv", "--quiet")
            run(*uv, "venv", "--no-project", "--python", base, folder)
            # Not with --compile-bytecode: tests import a part of it all.
            run(*uv, "pip", "install", "--python", python, *installed)
            stamp.write_text(made_of, "utf-8")
    return python


def find_python(version: str) -> str | None:
    """Return a Python of this version from PATH or from pyenv, or None."""
    if version == RUNNING:
        return sys.executable
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


def run(*command: str | Path, cwd: Path = ROOT, timeout: float | None = 900) -> str:
    """Run a command of a test; if it fails, show what it said."""
    variables = child_variables()
    # nbgrader looks for alembic on PATH, as if its environment were active.
    programs = str(Path(command[0]).parent)
    variables["PATH"] = os.pathsep.join([programs, variables.get("PATH", os.defpath)])
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        env=variables,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def digest() -> str:
    """Return a digest of what is installed from this repository."""
    found = hashlib.sha256()
    for path in SOURCES:
        for file in sorted((ROOT / path).rglob("*.*")) or [ROOT / path]:
            if file.suffix != ".pyc":
                name = file.relative_to(ROOT).as_posix()
                found.update(f"{name}\0".encode() + file.read_bytes())
    return found.hexdigest()
