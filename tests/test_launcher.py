"""course.py, run for real in a copy in which uv and the course's commands are stand-ins.

That the true environment can be made is shown by every run of .ci/run, which begins with it.
"""

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from pytree_course import (
    __main__,  # noqa: F401  adds the commands
    launcher,
)
from pytree_course.cli.app import app
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the stand-ins are laid out for POSIX"),
]

STAND_IN_FOR_THE_COURSE = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}))
sys.exit(7 if "--fail" in sys.argv else 0)
"""

STAND_IN_FOR_UV = '''
import json, os, pathlib, subprocess, sys, time

def value(option):
    return sys.argv[sys.argv.index(option) + 1]

if sys.argv[1] == "python":
    print(json.dumps([{"path": path} for path in os.environ.get("FOUND", "").split()]))
    sys.exit()
if sys.argv[1] == "venv":
    if value("--python") == "3.13":
        sys.exit("no route to host")
    sys.exit(subprocess.call([value("--python"), "-m", "venv", "--without-pip", sys.argv[-1]]))
with open(os.environ["UV_CACHE_DIR"] + "/calls", "a") as calls:
    calls.write(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}) + "\\n")
if "UV_OFFLINE" in os.environ:
    sys.exit("the disk is on fire")
while "WAIT_FOR" in os.environ and not os.path.exists(os.environ["WAIT_FOR"]):
    time.sleep(0.05)
[packages] = pathlib.Path(value("--python")).parents[1].glob("lib/python*/site-packages")
(packages / "pytree_course").mkdir(exist_ok=True)
(packages / "pytree_course/__main__.py").write_text("""COURSE""", "utf-8")
'''.replace("COURSE", STAND_IN_FOR_THE_COURSE)


STAND_IN_FOR_PIP = """
import os, pathlib, sys, zipfile

if "install" in sys.argv:
    python = pathlib.Path(sys.argv[sys.argv.index("--python") + 1])
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    [wheel] = pathlib.Path(os.environ["PIP_FIND_LINKS"]).glob("uv-*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
"""


STAND_IN_FOR_OTHER_PYTHONS = (
    "import os, sys; sys.modules.update(dict.fromkeys(os.environ.get('MISSING', '').split())); "
    "sys.version_info = (3, int(os.environ.pop('PRETENDED', sys.version_info[1])), 0)\n"
)


class Copy:
    """A learner's copy of the launcher's files, and a folder with a stand-in for uv for pip."""

    def __init__(self, root: Path, python: str | Path) -> None:
        self.folder = root / "my coursé"
        self.cache = root / "cache"
        self.python = python
        self.stdin = subprocess.DEVNULL
        self.cache.mkdir()
        (self.folder / "src/pytree_course").mkdir(parents=True)
        for name in ("course.py", "requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.folder)
        shutil.copytree(
            ROOT / "src/pytree_course/jupyter", self.folder / "src/pytree_course/jupyter"
        )
        for name in ("launcher.py", "help.txt"):
            file = Path(launcher.__file__).with_name(name)
            shutil.copy(file, self.folder / "src/pytree_course")
        version = launcher.UV.removeprefix("uv==")
        info = f"uv-{version}.dist-info"
        with zipfile.ZipFile(self.cache / f"uv-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("uv/__main__.py", STAND_IN_FOR_UV)
            wheel.writestr(f"{info}/METADATA", f"Name: uv\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")

    def start(self, *arguments: str, **variables: str):
        """Start course.py as someone in another folder would."""
        own = {name: os.environ[name] for name in os.environ.keys() - {launcher.SERVERS_PYTHON}}
        own |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "UV_CACHE_DIR": str(self.cache)}
        return subprocess.Popen(
            [self.python, self.folder / "course.py", *arguments],
            stdin=self.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.cache,
            env=own | {"PIP_FIND_LINKS": str(self.cache)} | variables,
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **variables)
        output, told = process.communicate()
        assert "Traceback" not in told
        return process.returncode, output, told

    def start_waiting(self) -> subprocess.Popen:
        """Start course.py; return it when its uv waits for the file `go`."""
        process = self.start("test", WAIT_FOR=str(self.cache / "go"))
        while not self.calls():
            assert process.poll() is None
            time.sleep(0.02)
        return process

    def calls(self) -> list[dict]:
        file = self.cache / "calls"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []  # the last may be half
        return [json.loads(line) for line in lines]

    def changes(self) -> set[str]:
        return self.launcher.find_changes(self.launcher.choose_locks(["lab"]))

    @property
    def launcher(self):
        file = self.folder / "src/pytree_course/launcher.py"
        spec = importlib.util.spec_from_file_location("launcher_of_a_copy", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def packages_of_a_new_python(folder: Path) -> Path:
    """Make a Python whose pip is a stand-in too, and quick; return its folder of packages."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip/__main__.py").write_text(STAND_IN_FOR_PIP, "utf-8")
    (packages / "other_pythons.pth").write_text(STAND_IN_FOR_OTHER_PYTHONS, "utf-8")
    return packages


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python")
    packages_of_a_new_python(folder)
    return folder / "bin/python"


@pytest.fixture
def copy(tmp_path: Path, python: Path) -> Copy:
    """Return a copy without an environment."""
    return Copy(tmp_path, python)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a copy whose environment the true pip has made, for tests that leave it ready."""
    copy = Copy(tmp_path_factory.mktemp("made"), os.path.realpath(sys.executable))
    mirror = {"PIP_INDEX_URL": "https://mirror.invalid/simple", "PIP_TRUSTED_HOST": "a b"}
    status, _, told = copy.run("test", **mirror, PIP_PROXY="http://p", SSL_CERT_FILE="/my.pem")
    assert status == 0, told
    return copy


# --- before anything is installed


def test_neither_help_nor_a_misspelt_command_makes_an_environment(copy):
    for arguments in ([], ["--help"], ["help"], ["lab", "--help"]):
        status, output, _ = copy.run(*arguments)
        assert status == 0
        assert "python3 course.py lab" in output
    status, _, told = copy.run("chekc")
    assert status == 2
    assert "Did you mean check?" in told
    assert not (copy.folder / ".venv").exists()


def test_help_lists_the_commands_there_are():
    commands = {info.name or info.callback.__name__ for info in app.registered_commands}
    assert set(launcher.COMMANDS) == commands


@pytest.mark.parametrize("version", ["2.7", "3.7"])
def test_a_python_older_than_the_launcher_is_told_so(copy, version):
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    pythons = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    if not pythons:
        pytest.skip(f"no Python {version} to try it with")
    copy.python = pythons[0]
    status, _, told = copy.run("lab")
    assert status == 1
    assert f"3.8 or newer, and this is Python {version}" in told
    assert "Error" not in told


def test_a_python_without_sqlite3_is_refused_with_a_remedy(copy):
    status, _, told = copy.run("lab", MISSING="_sqlite3 _ssl")
    assert status == 1
    assert "has no sqlite3 and ssl, which the course needs" in told
    assert "install libsqlite3-dev and libssl-dev and build" in told
    assert len(told.splitlines()) == 1
    assert not (copy.folder / ".venv").exists()


@pytest.mark.parametrize("pretended", ["8", "15"])
def test_on_an_unsupported_python_the_newest_installed_one_is_used(copy, pretended):
    status, _, told = copy.run("lab", PRETENDED=pretended, FOUND=f"{copy.python} /an/older/one")
    assert status == 0, told
    assert f"This is Python 3.{pretended}; the course's packages are there for Python 3.11" in told
    assert "280 MB" in told
    assert f"installed as {copy.python}" in told
    assert copy.run("lab", PRETENDED=pretended)[2] == ""


@pytest.mark.parametrize("answer", [None, "n", "y"])
def test_without_another_python_uv_may_fetch_one_if_asked_to(copy, answer):
    if answer:
        ours, copy.stdin = os.openpty()
        os.write(ours, answer.encode() + b"\n")
    status, _, told = copy.run("lab", PRETENDED="15")
    assert status == 1
    assert "May uv fetch Python 3.13, about 35 MB?" in told
    assert ("no route to host" in told) == (answer == "y")
    assert "install one of Python 3.11 to 3.14" in told
    if answer:
        os.close(ours)
        os.close(copy.stdin)


# --- making it, once


def test_the_installation_uses_pips_mirror_and_the_users_own_settings(made):
    lock, course = (call["arguments"] for call in made.calls()[:2])
    assert lock[-2:] == ["--requirements", str(made.folder / "requirements.txt")]
    assert "--compile-bytecode" in lock
    assert course[-2:] == ["--editable", str(made.folder)]
    seen = made.calls()[0]["environment"]
    assert seen["UV_INDEX_URL"] == "https://mirror.invalid/simple"
    assert seen["UV_INSECURE_HOST"] == "a b"
    assert seen["ALL_PROXY"] == "http://p"
    assert seen["SSL_CERT_FILE"] == "/my.pem"


def test_the_second_run_installs_nothing_and_returns_the_commands_status(made):
    (made.cache / "json.py").write_text("raise SystemExit('the wrong json')")  # is not imported
    calls = len(made.calls())
    status, output, told = made.run("check", "--fail")
    assert (status, told) == (7, "")
    assert json.loads(output)["arguments"] == ["check", "--fail"]
    assert len(made.calls()) == calls


def test_a_changed_lock_updates_the_environment(made):
    calls = len(made.calls())
    with (made.folder / "requirements.txt").open("a") as lock:
        lock.write("\n")
    assert made.changes() == {"digest"}
    status, _, told = made.run("test")
    assert status == 0
    assert "Updating" in told
    assert len(made.calls()) == calls + 2


def test_developers_packages_come_with_the_first_test_and_stay(copy):
    (copy.folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/requirements-dev.txt", copy.folder / ".ci")
    locks = []
    for command in ("lab", "test", "lab", "site"):
        status, _, told = copy.run(command)
        assert status == 0, told
        locks += [Path(call["arguments"][-1]).name for call in copy.calls()[2 * len(locks) :: 2]]
    assert locks == ["requirements.txt", "requirements-dev.txt"]


def test_downloads_are_shown_in_one_line_of_progress(copy, monkeypatch):
    terminal, log = io.StringIO(), io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    lines = ["Resolved 2 packages\n", "Downloading jax (20.0MiB)\n", "Downloading b (80.0MiB)\n"]
    lines += [" Downloaded jax\n", " Downloaded b\n", "Prepared 2 packages\n", " + jax==1\n"]
    copy.launcher.show_progress(lines, log)
    assert re.sub(r"\d+ s", "T s", terminal.getvalue()).split("\r")[1:] == [
        f"  {'21 of 105 MB, about T s left':<40}",
        f"  {'105 of 105 MB, about T s left':<40}\n  Installing: a minute.\n",
    ]
    assert log.getvalue() == "".join(lines)


def test_a_failed_step_shows_why_and_what_to_try(copy):
    status, output, told = copy.run("test", UV_OFFLINE="1")
    assert status == 1
    assert output == ""
    for text in (
        "the disk is on fire",
        "could not be made",
        "network",
        "disk",
        "delete",
        "apt",
        ".venv-log",
    ):
        assert text in told
    assert copy.changes()


def test_a_stopped_run_ends_its_installer_too(copy):
    process = copy.start_waiting()
    process.terminate()
    _, told = process.communicate()  # the pipe closes when the installer has ended
    assert process.returncode == 130
    assert "Stopped" in told
    assert "Traceback" not in told
    assert copy.changes()


def test_of_two_starts_at_once_the_second_waits(copy):
    first = copy.start_waiting()
    second = copy.start("test")
    assert "waiting for it" in second.stderr.readline()
    (copy.cache / "go").touch()
    for process in (first, second):
        _, told = process.communicate()
        assert process.returncode == 0, told
    assert len(copy.calls()) == 2  # uv's, for the lock and for the course


# --- a Python that has the course already, as on a hub or in conda


@pytest.fixture
def hub(copy: Copy) -> Copy:
    """Return a copy, to be run with a Python in which a stand-in for the course is installed."""
    packages = packages_of_a_new_python(copy.cache / "hub")
    copy.python = copy.cache / "hub/bin/python"
    (packages / "pytree_course").mkdir()
    (packages / "pytree_course/__init__.py").touch()
    (packages / "pytree_course/__main__.py").write_text(STAND_IN_FOR_THE_COURSE, "utf-8")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    info = packages / f"pytree_course-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: pytree-course\nVersion: {version}\n", "utf-8")
    return copy


def makes_an_environment(copy: Copy, **variables: str) -> bool:
    # Then the stand-in for uv fails at once.
    status, output, told = copy.run("check", "1", UV_OFFLINE="1", **variables)
    made = (copy.folder / ".venv").exists()
    assert status == (1 if made else 0), told
    if not made:
        command = json.loads(output)
        assert command["arguments"] == ["check", "1"]
        assert command["environment"]["PYTREE_COURSE"] == str(copy.folder)
    return made


def test_a_python_that_has_the_course_needs_no_environment(hub):
    assert not makes_an_environment(hub)
    project = hub.folder / "pyproject.toml"
    project.write_text(re.sub('^version = ".*"', 'version = "9"', project.read_text(), flags=re.M))
    assert makes_an_environment(hub)


def test_a_hubs_terminal_uses_its_servers_python(hub, python):
    servers, hub.python = str(hub.python), python
    assert makes_an_environment(hub)
    shutil.rmtree(hub.folder / ".venv")
    assert not makes_an_environment(hub, PYTREE_COURSE_PYTHON=servers)
    assert makes_an_environment(hub, PYTREE_COURSE_PYTHON=str(hub.cache / "gone"))


# --- an environment that can't be used


def test_a_renamed_folder_gets_a_new_environment_even_without_pip(copy):
    venv.create(copy.cache / "bare", symlinks=True)
    copy.python = copy.cache / "bare/bin/python"
    status, _, told = copy.run("test")
    assert status == 0, told
    assert copy.changes() == set()
    moved = copy.folder.with_name("moved")
    copy.folder.rename(moved)
    copy.folder = moved
    assert copy.changes() == {"location"}
    status, _, told = copy.run("test")
    assert status == 0
    assert "Making the course's environment" in told
    assert copy.changes() == set()


# --- what the commands get to see


def test_settings_of_other_environments_do_not_reach_the_commands(made):
    foreign = {"VIRTUAL_ENV", "CONDA_PREFIX", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"}
    foreign |= {"PYTHONPATH", "UV_PROJECT_ENVIRONMENT"}
    kept = {"PIP_INDEX_URL": "mirror", "PIP_CERT": "file", "UV_DEFAULT_INDEX": "mirror"}
    _, output, _ = made.run("test", **dict.fromkeys(foreign, "1"), **kept)
    seen = json.loads(output)["environment"]
    assert seen.pop("VIRTUAL_ENV") == str(made.folder / ".venv")
    assert seen["PATH"].split(os.pathsep)[0] == str(made.folder / ".venv/bin")
    assert not foreign & set(seen)
    assert kept.items() <= seen.items()
    # Called from another folder, the commands are told where the course is.
    assert seen["PYTREE_COURSE"] == str(made.folder)
