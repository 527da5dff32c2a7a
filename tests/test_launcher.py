"""course.py, run for real in a copy whose installer and commands are stand-ins.

That the true environment can be made is shown by every run of .ci/run, which begins with it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytree_course import launcher
from pytree_course.cli.app import app
from pytree_course.launcher import Environment

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are laid out for POSIX")

FAKE_UV = """
import json, os, sys, time
if "--version" in sys.argv:
    print("{version} (a stand-in)")
    sys.exit()
with open(os.environ["UV_CACHE_DIR"] + "/calls", "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
time.sleep(float(os.environ.get("UV_HTTP_TIMEOUT", "0")))
if os.environ.get("UV_OFFLINE"):
    sys.exit("the disk is on fire")
"""

FAKE_COMMANDS = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ), "star": "\u2605"}))
sys.exit(7 if "--fail" in sys.argv else 0)
"""


class Copy:
    """A copy of the launcher's files, with stand-ins for uv and for the course's commands."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        self.calls_file = cache / "calls"
        cache.mkdir()
        (folder / "src/pytree_course").mkdir(parents=True)
        for name in ("course.py", "requirements.txt", "pyproject.toml", "jupyter"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        shutil.copy(launcher.__file__, folder / "src/pytree_course")

    def add_environment(self) -> None:
        """Make an environment in which uv and the commands are stand-ins."""
        environment = Environment(self.folder)
        launcher.create_empty(environment)
        (packages,) = environment.path.glob("lib/python*/site-packages")
        version = environment.uv_wanted().replace("==", " ")
        for name, code in {
            "uv": FAKE_UV.replace("{version}", version),
            "pytree_course": FAKE_COMMANDS,
        }.items():
            (packages / name).mkdir()
            (packages / name / "__main__.py").write_text(code, "utf-8")

    def start(self, *arguments: str, python: str = sys.executable, **variables: str):
        """Start course.py as someone in another folder would."""
        return subprocess.Popen(
            [python, str(self.folder / "course.py"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=self.cache,
            env={**os.environ, "UV_CACHE_DIR": str(self.cache), **variables},
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Run course.py; return its exit status, its output and what it told the person."""
        process = self.start(*arguments, **variables)
        output, told = process.communicate(timeout=120)
        assert "Traceback" not in told
        return process.returncode, output, told

    def calls(self) -> int:
        """Return how often the installer was run."""
        return len(self.calls_file.read_text().splitlines()) if self.calls_file.exists() else 0


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Return a copy without an environment, in a folder with a space and an accent."""
    return Copy(tmp_path / "my coursé", tmp_path / "cache")


@pytest.fixture
def made(copy: Copy) -> Copy:
    """Return a copy whose environment is made."""
    copy.add_environment()
    status, _, told = copy.run("test")
    assert status == 0, told
    return copy


# --- before anything is installed


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"], ["lab", "--help"]])
def test_help_makes_no_environment(copy, arguments):
    status, output, _ = copy.run(*arguments)
    assert status == 0
    assert "python3 course.py lab" in output
    assert not (copy.folder / ".venv").exists()


def test_help_lists_the_commands_there_are():
    commands = {info.name or info.callback.__name__ for info in app.registered_commands}
    assert set(launcher.COMMANDS) == commands
    listed = re.findall(r"^  (\w+)   ", launcher.help_text(), re.MULTILINE)
    assert set(listed) == commands


def test_a_misspelt_command_installs_nothing(copy):
    status, _, told = copy.run("chekc")
    assert status == 2
    assert "Did you mean check?" in told
    assert not (copy.folder / ".venv").exists()


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.10"])
def test_an_old_python_is_told_so(copy, version):
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    pythons = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    if not pythons:
        pytest.skip(f"no Python {version} to try it with")
    process = copy.start("lab", python=str(pythons[0]))
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"3.11 or newer, and this is Python {version}" in told
    assert "Error" not in told


def test_course_py_alone_says_what_is_missing(copy):
    shutil.rmtree(copy.folder / "src")
    status, _, told = copy.run("lab")
    assert status == 1
    assert "src/ is missing" in told


LINUX = {"system": "linux", "machine": "x86_64", "bits": 64, "implementation": "CPython"}


@pytest.mark.parametrize(
    ("differs", "mentions"),
    [
        ({"system": "darwin", "machine": "x86_64"}, "Intel Mac"),
        ({"system": "win32", "machine": "x86", "bits": 32}, "32-bit"),
        ({"system": "win32", "machine": "ARM64"}, "Windows on ARM"),
        ({"musl": True}, "Alpine"),
        ({"machine": "armv7l", "bits": 32}, "32-bit"),
        ({"machine": "riscv64"}, "riscv64"),
        ({"implementation": "PyPy"}, "PyPy"),
    ],
)
def test_a_computer_without_jax_is_told_so(differs, mentions):
    assert mentions in launcher.unsupported(**{**LINUX, "musl": False, **differs})


@pytest.mark.parametrize(
    "differs",
    [
        {},
        {"machine": "aarch64"},
        {"system": "darwin", "machine": "arm64"},
        {"system": "win32", "machine": "AMD64"},
    ],
)
def test_a_computer_with_jax_is_not_refused(differs):
    assert launcher.unsupported(**{**LINUX, "musl": False, **differs}) is None


# --- making it, once


def test_the_second_run_installs_nothing(copy):
    copy.add_environment()
    status, output, told = copy.run("check", "1")
    assert status == 0
    assert json.loads(output)["arguments"] == ["check", "1"]
    steps = re.findall(r"^(\d)/(\d) ", told, re.MULTILINE)
    assert steps == [("1", "3"), ("2", "3"), ("3", "3")]
    assert copy.calls() == 2
    status, output, told = copy.run("check", "1")
    assert (status, told) == (0, "")
    assert copy.calls() == 2


@pytest.mark.parametrize(
    "name", ["requirements.txt", "pyproject.toml", "jupyter/lab_settings.json"]
)
def test_a_change_of_what_it_is_made_from_updates_it(made, name):
    with (made.folder / name).open("a") as file:
        file.write("\n")
    _, _, told = made.run("test")
    assert "up to date" in told
    assert made.calls() == 4
    assert made.run("test")[2] == ""


def test_the_commands_exit_status_is_kept(made):
    assert made.run("test", "--fail")[0] == 7


def test_a_failed_step_shows_why_and_what_to_try(copy):
    copy.add_environment()
    status, output, told = copy.run("test", UV_OFFLINE="1")
    assert status == 1
    assert output == ""
    for text in ("the disk is on fire", "This step failed", "network", "disk", "delete"):
        assert text in told
    assert not Environment(copy.folder).is_ready()


@pytest.fixture
def ctrl_c_works():
    """A shell's background jobs ignore Ctrl-C, and so does what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_works")
def test_ctrl_c_ends_the_installer_too_and_the_next_run_begins_anew(copy):
    copy.add_environment()
    process = copy.start("test", UV_HTTP_TIMEOUT="60")
    wait_until(copy.calls_file.exists)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)  # the pipe closes when the installer has ended
    assert process.returncode == 130
    assert "Stopped" in told
    assert "Traceback" not in told
    assert "interrupted" in (Environment(copy.folder).broken() or "")


def test_a_killed_runs_installer_is_waited_for(copy):
    copy.add_environment()
    process = copy.start("test", UV_HTTP_TIMEOUT="2")
    wait_until(copy.calls_file.exists)
    process.kill()
    began = time.monotonic()
    status, _, told = copy.run("test", PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert time.monotonic() - began > 1
    assert status == 1  # there is nothing to install from
    assert "waiting for it" in told
    assert "its installation was interrupted. Making it anew" in told
    process.communicate(timeout=30)


def test_two_runs_at_once_take_turns(copy):
    copy.add_environment()
    first = copy.start("test", UV_HTTP_TIMEOUT="1")
    wait_until(copy.calls_file.exists)
    status, _, told = copy.run("test")
    first.communicate(timeout=30)
    assert (first.returncode, status) == (0, 0)
    assert "waiting for it" in told
    assert copy.calls() == 2


# --- an environment that can't be used


def test_a_sound_environment_is_not_broken(made):
    environment = Environment(made.folder)
    assert environment.is_ready()
    assert environment.broken() is None


def test_a_moved_environment_is_made_anew(made):
    moved = made.folder.with_name("moved")
    made.folder.rename(moved)
    made.folder = moved
    # With nowhere to install from, this also shows how pip's failure is told.
    status, _, told = made.run("test", PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert status == 1
    assert "the folder was moved or copied" in told
    assert "Making it anew" in told
    assert "No matching distribution" in told
    assert "What to try" in told


def test_a_missing_python_is_noticed(made):
    environment = Environment(made.folder)
    environment.python.unlink()
    environment.python.symlink_to(made.folder / "gone")
    assert not environment.is_ready()
    assert "gone" in (environment.broken() or "")


def test_another_python_in_its_place_is_noticed(made):
    environment = Environment(made.folder)
    other = made.cache / "python"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    environment.python.unlink()
    environment.python.symlink_to(other)
    assert not environment.is_ready()
    assert "replaced" in (environment.broken() or "")
    environment.state_file.unlink()
    assert "another environment" in (environment.broken() or "")


# --- what the commands get to see


def test_other_environments_settings_do_not_reach_the_commands(made):
    foreign = {
        "VIRTUAL_ENV": "/elsewhere",
        "CONDA_PREFIX": "/elsewhere",
        "PIP_TARGET": "/elsewhere",
        "PIP_USER": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "UV_PROJECT_ENVIRONMENT": "/elsewhere",
        "UV_SYSTEM_PYTHON": "1",
    }
    kept = {"PIP_INDEX_URL": "mirror", "PIP_CERT": "file", "UV_DEFAULT_INDEX": "mirror"}
    _, output, _ = made.run("test", **foreign, **kept)
    seen = json.loads(output)["environment"]
    environment = Environment(made.folder)
    assert seen.pop("VIRTUAL_ENV") == str(environment.path)
    assert seen["PATH"].split(os.pathsep)[0] == str(environment.scripts)
    assert not set(foreign) & set(seen)
    assert kept.items() <= seen.items()
    # Called from another folder, the commands are told where the course is.
    assert seen["PYTREE_COURSE"] == str(made.folder)


def test_a_terminal_without_stars_ends_nothing(made):
    status, output, _ = made.run("test", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert status == 0
    assert json.loads(output)["star"] == "★"


def test_a_file_named_like_a_library_is_not_imported_instead(made):
    (made.cache / "json.py").write_text("raise SystemExit('the wrong json')")
    assert made.run("test")[0] == 0


def test_pips_mirror_is_handed_to_uv():
    pip = [sys._base_executable, "-m", "pip"]
    variables = {
        "PATH": os.environ["PATH"],
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://mirror.invalid/simple",
        "PIP_CERT": "/certificates.pem",
    }
    if launcher.run_installer([*pip, "--version"], environment=variables, folder=ROOT)[0] != 0:
        pytest.skip("the Python below this environment has no pip")
    wanted = {
        "UV_DEFAULT_INDEX": "https://mirror.invalid/simple",
        "SSL_CERT_FILE": "/certificates.pem",
    }
    assert launcher.pip_settings(pip, variables) == wanted
    own = {"SSL_CERT_FILE": "/my.pem", "UV_INDEX_URL": "https://my.invalid"}
    assert launcher.pip_settings(pip, {**variables, **own}) == {}


def test_ctrl_c_is_the_commands_to_answer_where_there_is_no_exec():
    command = """
import time
try:
    print("ready", flush=True)
    time.sleep(30)
except KeyboardInterrupt: raise SystemExit(5)
"""
    parent = (
        "import os, sys; from pytree_course.launcher import wait_for; "
        f"sys.exit(wait_for([sys.executable, '-c', {command!r}], os.environ))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to both
    _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (5, "")


def wait_until(condition, seconds: float = 30) -> None:
    """Wait for a condition, or fail."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
