"""course.py, run for real in a copy in which uv and the course's commands are stand-ins.

That the true environment can be made is shown by every run of .ci/run, which begins with it.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import packaging
import pytest

from pytree_course import launcher
from pytree_course.cli import main  # noqa: F401  adds the commands
from pytree_course.cli.app import app

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are laid out for POSIX")

STAND_IN_FOR_THE_COURSE = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}))
sys.exit(7 if "--fail" in sys.argv else 0)
"""

STAND_IN_FOR_UV = '''
import json, os, pathlib, sys, time

with open(os.environ["UV_CACHE_DIR"] + "/calls", "a") as calls:
    calls.write(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}) + "\\n")
if "UV_OFFLINE" in os.environ:
    sys.exit("the disk is on fire")
while "WAIT_FOR" in os.environ and not os.path.exists(os.environ["WAIT_FOR"]):
    time.sleep(0.05)
course = pathlib.Path(__file__).parents[1] / "pytree_course"
course.mkdir(exist_ok=True)
(course / "__main__.py").write_text("""COURSE""", "utf-8")
'''.replace("COURSE", STAND_IN_FOR_THE_COURSE)


STAND_IN_FOR_PIP = """
import os, pathlib, sys, zipfile

if "install" in sys.argv:
    python = pathlib.Path(sys.argv[sys.argv.index("--python") + 1])
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    [wheel] = pathlib.Path(os.environ["PIP_FIND_LINKS"]).glob("uv-*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
"""


class Copy:
    """A copy of the launcher's files, and a folder from which pip installs the stand-in for uv."""

    def __init__(self, root: Path, python: str | Path) -> None:
        self.folder = root / "my coursé"
        self.cache = root / "cache"
        self.python = python
        self.cache.mkdir()
        (self.folder / "src/pytree_course").mkdir(parents=True)
        for name in ("course.py", "requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.folder)
        shutil.copytree(ROOT / "jupyter", self.folder / "jupyter")
        for name in ("launcher.py", "help.txt"):
            file = Path(launcher.__file__).with_name(name)
            shutil.copy(file, self.folder / "src/pytree_course")
        lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
        [version] = [line.removeprefix("uv==") for line in lines if line.startswith("uv==")]
        info = f"uv-{version}.dist-info"
        with zipfile.ZipFile(self.cache / f"uv-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("uv/__main__.py", STAND_IN_FOR_UV)
            wheel.writestr(f"{info}/METADATA", f"Name: uv\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")

    def start(self, *arguments: str, **variables: str):
        """Start course.py as someone in another folder would."""
        pip = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": str(self.cache),
            "PIP_NO_INDEX": "1",
        }
        own = {name: os.environ[name] for name in os.environ.keys() - {launcher.SERVERS_PYTHON}}
        return subprocess.Popen(
            [self.python, self.folder / "course.py", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.cache,
            env={**own, **pip, "UV_CACHE_DIR": str(self.cache), **variables},
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Run course.py; return its exit status, its output and what it told the user."""
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

    def go(self) -> None:
        """Let the uv that waits go on."""
        (self.cache / "go").touch()

    def calls(self) -> list[dict]:
        """Return the arguments and the environment of each call of uv."""
        file = self.cache / "calls"
        # The last line may be half written.
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def launcher(self):
        """The launcher's module, as it is in this copy."""
        file = self.folder / "src/pytree_course/launcher.py"
        spec = importlib.util.spec_from_file_location("launcher_of_a_copy", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python whose pip is a stand-in too, and quick."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip/__main__.py").write_text(STAND_IN_FOR_PIP, "utf-8")
    return folder / "bin/python"


@pytest.fixture
def copy(tmp_path: Path, python: Path) -> Copy:
    """Return a copy without an environment, in a folder with a space and an accent."""
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


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"], ["lab", "--help"]])
def test_help_makes_no_environment(copy, arguments):
    status, output, _ = copy.run(*arguments)
    assert status == 0
    assert "python3 course.py lab" in output
    assert not (copy.folder / ".venv").exists()


def test_help_lists_the_commands_there_are():
    commands = {info.name or info.callback.__name__ for info in app.registered_commands}
    assert set(launcher.COMMANDS) == commands


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
    copy.python = pythons[0]
    status, _, told = copy.run("lab")
    assert status == 1
    assert f"3.11 or newer, and this is Python {version}" in told
    assert "Error" not in told


def test_course_py_alone_says_what_is_missing(copy):
    shutil.rmtree(copy.folder / "src")
    status, _, told = copy.run("lab")
    assert status == 1
    assert "src/ is missing" in told


@pytest.mark.parametrize(
    ("system", "machine", "maxsize", "python", "build", "says"),
    [
        ("linux", "x86_64", 2**63, "CPython", "x86_64-linux-gnu", None),
        ("linux", "aarch64", 2**63, "CPython", "aarch64-linux-gnu", None),
        ("darwin", "arm64", 2**63, "CPython", "darwin", None),
        ("win32", "amd64", 2**63, "CPython", "", None),
        ("darwin", "x86_64", 2**63, "CPython", "darwin", "Intel Mac"),
        ("win32", "x86", 2**31, "CPython", "", "32-bit"),
        ("win32", "arm64", 2**63, "CPython", "", "Windows on ARM"),
        ("linux", "x86_64", 2**63, "CPython", "x86_64-linux-musl", "Alpine"),
        ("linux", "armv7l", 2**31, "CPython", "arm-linux-gnueabihf", "32-bit"),
        ("linux", "riscv64", 2**63, "CPython", "riscv64-linux-gnu", "riscv64"),
        ("linux", "x86_64", 2**63, "PyPy", "x86_64-linux-gnu", "PyPy"),
    ],
)
def test_a_computer_without_jax_is_told_so(system, machine, maxsize, python, build, says):
    reason = launcher.unsupported(system, machine, maxsize, python, build)
    assert reason is None if says is None else says in reason


# --- making it, once


def test_uv_installs_what_the_lock_says_and_then_the_course(made):
    lock, course = (call["arguments"] for call in made.calls()[:2])
    assert "--compile-bytecode" in lock
    assert lock[-2:] == ["--requirements", str(made.folder / "requirements.txt")]
    assert course[-2:] == ["--editable", str(made.folder)]


def test_the_second_run_installs_nothing(made):
    calls = len(made.calls())
    status, output, told = made.run("check", "1")
    assert (status, told) == (0, "")
    assert json.loads(output)["arguments"] == ["check", "1"]
    assert len(made.calls()) == calls


def test_a_change_of_what_it_is_made_from_updates_it(made):
    calls = len(made.calls())
    for name in ("requirements.txt", "pyproject.toml", "jupyter/lab_settings.json"):
        file = made.folder / name
        text = file.read_text("utf-8")
        file.write_text(text + "\n", "utf-8")
        assert made.launcher.outdated() == {"digest"}
        file.write_text(text, "utf-8")
        assert made.launcher.outdated() == set()
    file.write_text(text + "\n", "utf-8")
    status, _, told = made.run("test")
    assert status == 0
    assert "Updating" in told
    assert len(made.calls()) == calls + 2
    assert made.run("test")[2] == ""


def test_a_python_without_pip_will_do(copy):
    venv.create(copy.cache / "bare", symlinks=True)
    copy.python = copy.cache / "bare/bin/python"
    status, _, told = copy.run("test")
    assert status == 0, told
    assert copy.launcher.outdated() == set()


def test_a_failed_step_shows_why_and_what_to_try(copy):
    status, output, told = copy.run("test", UV_OFFLINE="1")
    assert status == 1
    assert output == ""
    for text in ("the disk is on fire", "could not be made", "network", "disk", "delete", "apt"):
        assert text in told
    assert copy.launcher.outdated()


def test_a_folder_that_cannot_be_written_is_told_so(copy):
    (copy.folder / ".venv-lock").mkdir()
    status, _, told = copy.run("test")
    assert status == 1
    assert "read-only" in told


@pytest.fixture
def ctrl_c_works():
    """A shell's background jobs ignore Ctrl-C, and so does what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("ctrl_c_works")
def test_a_stopped_run_ends_its_installer_too(copy, how):
    process = copy.start_waiting()
    process.send_signal(how)
    _, told = process.communicate()  # the pipe closes when the installer has ended
    assert process.returncode == 130
    assert "Stopped" in told
    assert "Traceback" not in told
    assert copy.launcher.outdated()


def test_a_killed_runs_installer_is_waited_for_and_its_environment_made_anew(copy):
    killed = copy.start_waiting()
    left_behind = copy.folder / ".venv/left-behind"
    left_behind.touch()
    killed.kill()
    second = copy.start("test")
    assert "waiting for it" in second.stderr.readline()
    assert left_behind.exists()
    copy.go()
    _, told = second.communicate()
    assert second.returncode == 0, told
    assert "Making the course's environment" in told
    assert not left_behind.exists()
    killed.communicate()


def test_two_runs_at_once_take_turns(copy):
    first = copy.start_waiting()
    second = copy.start("test")
    assert "waiting for it" in second.stderr.readline()
    copy.go()
    for process in (first, second):
        process.communicate()
        assert process.returncode == 0
    assert len(copy.calls()) == 2


# --- a Python that has the course already, as on a hub or in conda


class Hub:
    """A copy, to be run with a Python in which a stand-in for the course is installed."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        venv.create(copy.cache / "hub", symlinks=True)
        copy.python = copy.cache / "hub/bin/python"
        [self.packages] = (copy.cache / "hub").glob("lib/python*/site-packages")
        shutil.copytree(Path(packaging.__file__).parent, self.packages / "packaging")
        (self.packages / "pip").mkdir()
        (self.packages / "pip/__main__.py").write_text(STAND_IN_FOR_PIP, "utf-8")
        (self.packages / "pytree_course").mkdir()
        (self.packages / "pytree_course/__init__.py").touch()
        (self.packages / "pytree_course/__main__.py").write_text(STAND_IN_FOR_THE_COURSE, "utf-8")
        requires = ["jax>=0.5", "rich", "hypothesis; extra == 'dev'", "old; python_version < '3'"]
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        self.install("pytree-course", project["version"], *requires)
        self.install("jax", "0.10.2")
        self.install("rich", "15.0.0rc1")

    def install(self, name: str, version: str, *requires: str) -> None:
        """Note a package as installed, in place of any other version of it."""
        for earlier in self.packages.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(earlier)
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = [f"Requires-Dist: {line}\n" for line in requires]
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{''.join(lines)}"
        (info / "METADATA").write_text(text, "utf-8")

    def makes_an_environment(self, *arguments: str, **variables: str) -> tuple[bool, str]:
        """Run course.py; say whether it began to make `.venv`, and what it told the user."""
        # Then the stand-in for uv fails at once.
        status, output, told = self.copy.run(*arguments, UV_OFFLINE="1", **variables)
        made = (self.copy.folder / ".venv").exists()
        assert status == (1 if made else 0), told
        if not made:
            seen = json.loads(output)
            assert seen["arguments"] == list(arguments)
            assert seen["environment"]["PYTREE_COURSE"] == str(self.copy.folder)
        return made, told


@pytest.fixture
def hub(copy: Copy) -> Hub:
    """Return a copy and a Python that has the course, and what it needs."""
    return Hub(copy)


def test_a_python_that_has_the_course_is_used_as_it_is(hub):
    assert hub.makes_an_environment("check", "1") == (False, "")


@pytest.mark.parametrize(
    ("change", "command", "why"),
    [
        (lambda hub: shutil.rmtree(hub.packages / "jax-0.10.2.dist-info"), "check", "jax>=0.5."),
        (lambda hub: hub.install("jax", "0.4.38"), "check", "jax>=0.5."),
        (lambda hub: hub.install("pytree-course", "0.0.1"), "check", ""),
        (lambda hub: (hub.copy.folder / "sources").mkdir(), "check", ""),  # an author's own code
        (lambda hub: (hub.copy.folder / "tests").mkdir(), "test", "hypothesis"),
    ],
)
def test_a_python_that_lacks_what_is_needed_or_has_another_course_is_not(hub, change, command, why):
    change(hub)
    made, told = hub.makes_an_environment(command)
    assert made
    assert not why or f"has the course, but not {why}" in told


def test_a_learners_copy_needs_no_more_to_run_the_lessons(hub):
    assert not hub.makes_an_environment("test")[0]


def test_an_authors_copy_that_is_installed_there_is_used(hub):
    (hub.copy.folder / "sources").mkdir()
    package = hub.copy.folder / "src/pytree_course"
    for name in ("__init__.py", "__main__.py"):
        (hub.packages / "pytree_course" / name).rename(package / name)
    (hub.packages / "pytree_course").rmdir()
    (hub.packages / "editable.pth").write_text(str(hub.copy.folder / "src"), "utf-8")
    assert not hub.makes_an_environment("check", "1")[0]


def test_a_jupyterlabs_terminal_uses_its_servers_python_whatever_python3_is(hub, python):
    servers, hub.copy.python = str(hub.copy.python), python
    assert hub.makes_an_environment("check", "1")[0]
    shutil.rmtree(hub.copy.folder / ".venv")
    made, told = hub.makes_an_environment("check", "1", PYTREE_COURSE_PYTHON=servers)
    assert (made, told) == (False, "")


@pytest.mark.parametrize("servers", ["another version", "gone", "itself"])
def test_but_not_a_servers_python_that_will_not_do(hub, python, servers):
    variables = {"PYTREE_COURSE_PYTHON": str(hub.copy.python)}
    if servers != "itself":
        hub.copy.python = python
    if servers == "gone":
        shutil.rmtree(hub.copy.cache / "hub")
    else:
        hub.install("pytree-course", "0.0.1")
    assert hub.makes_an_environment("check", "1", **variables)[0]


# --- an environment that can't be used


def test_a_moved_environment_is_made_anew(copy):
    copy.run("test")
    moved = copy.folder.with_name("moved")
    copy.folder.rename(moved)
    copy.folder = moved
    assert copy.launcher.outdated() == {"location"}
    status, _, told = copy.run("test")
    assert status == 0
    assert "Making the course's environment" in told
    assert copy.launcher.outdated() == set()


def test_a_missing_or_replaced_python_is_noticed(made):
    python = Path(made.launcher.PYTHON)
    link = python.readlink()
    other = made.cache / "python"
    for exists in (False, True):
        python.unlink()
        python.symlink_to(other)
        if exists:
            shutil.copy(sys.executable, other)
        assert made.launcher.outdated() == ({"interpreter"} if exists else {"stamp"})
    python.unlink()
    python.symlink_to(link)
    assert made.launcher.outdated() == set()


# --- what the commands get to see


def test_the_commands_exit_status_is_kept(made):
    assert made.run("test", "--fail")[0] == 7


def test_other_environments_settings_do_not_reach_the_commands(made):
    foreign = {"VIRTUAL_ENV", "CONDA_PREFIX", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"}
    foreign |= {"PYTHONDONTWRITEBYTECODE", "UV_PROJECT_ENVIRONMENT", "UV_SYSTEM_PYTHON"}
    kept = {"PIP_INDEX_URL": "mirror", "PIP_CERT": "file", "UV_DEFAULT_INDEX": "mirror"}
    _, output, _ = made.run("test", **dict.fromkeys(foreign, "1"), **kept)
    seen = json.loads(output)["environment"]
    assert seen.pop("VIRTUAL_ENV") == str(made.folder / ".venv")
    assert seen["PATH"].split(os.pathsep)[0] == str(made.folder / ".venv/bin")
    assert not foreign & set(seen)
    assert kept.items() <= seen.items()
    # Called from another folder, the commands are told where the course is.
    assert seen["PYTREE_COURSE"] == str(made.folder)


def test_a_file_named_like_a_library_is_not_imported_instead(made):
    (made.cache / "json.py").write_text("raise SystemExit('the wrong json')")
    assert made.run("test")[0] == 0


def test_uv_gets_pips_mirror_but_the_users_own_settings_weigh_more(made):
    seen = made.calls()[0]["environment"]
    assert seen["UV_INDEX_URL"] == "https://mirror.invalid/simple"
    assert seen["UV_INSECURE_HOST"] == "a b"
    assert seen["ALL_PROXY"] == "http://p"
    assert seen["SSL_CERT_FILE"] == "/my.pem"


def test_ctrl_c_is_the_commands_to_answer_where_there_is_no_exec():
    command = """
import time
try:
    print("ready", flush=True)
    time.sleep(3600)
except KeyboardInterrupt: raise SystemExit(5)
"""
    parent = (
        "import os, sys; from pytree_course.launcher import become; "
        f"sys.exit(become([sys.executable, '-c', {command!r}], os.environ, can_exec=False))"
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
    _, told = process.communicate()
    assert (process.returncode, told) == (5, "")


def test_the_environment_names_the_course_by_a_path_that_every_locale_can_read():
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("not in the environment that course.py makes")
    link = Path(sysconfig.get_path("purelib"), "_editable_impl_pytree_course.pth")
    named = link.read_text("ascii")
    assert not Path(named).is_absolute()
    assert (link.parent / named).resolve() == ROOT / "src"
