"""The launcher behind course.py: make the environment once with uv, then run commands in it.

It imports the standard library only, because nothing may be installed yet, and runs on Python 3.8,
which may have to find a newer one. If the course is installed in its own Python, as on a hub or in
conda, it makes no environment.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[2]
LEARNERS_LOCK = ROOT / "requirements.txt"
DEVELOPERS_LOCK = ROOT / ".ci/requirements-dev.txt"  # all of the learners', and more
VENV = ROOT / ".venv"
INSTALLER = ROOT / ".venv-installer"  # has uv, until the environment is ready
LOG = ROOT / ".venv-log"
STAMP = VENV / "pytree-course.json"
UV = "uv==0.13.8"


def python_of(environment: Path) -> str:
    """Return the Python of a virtual environment."""
    return str(environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


PYTHON = python_of(VENV)

OLDEST, NEWEST = (3, 11), (3, 14)
"""The Pythons for which each package of the lock has a wheel: tests/test_environment.py asks."""

FETCHED = "3.13"
"""The Python that uv fetches if none of these is installed."""

# -P: no file of a learner's, such as random.py in the current folder, is imported instead.
RUNNING = [sys.executable, "-P"] if sys.version_info >= (3, 11) else [sys.executable]

# Standard output belongs to the command.
say = functools.partial(print, file=sys.stderr)

HELP = Path(__file__).with_name("help.txt").read_text("utf-8")
"""What `course.py` prints before anything is installed."""

COMMANDS = re.findall(r"^  (\w+)   ", HELP, re.M)  # HELP lists them all

INSTALLATION_FAILED = """
The environment could not be made. Run the same command again: finished downloads are kept.
  - network: is this computer online? HTTPS_PROXY and pip's index-url, cert and proxy are used
  - disk: about 1.2 GB is needed, {free:.1f} GB are free; to start over, delete the folder .venv
  - no pip, ensurepip or venv: on Debian and Ubuntu, sudo apt install python3-venv python3-pip
  - "no wheels": JAX needs 64-bit CPython, on Linux with glibc, Apple-chip Macs or x86 Windows
  - no Python can be fetched: install one of Python 3.11 to 3.14 yourself
All that the installers said is in {log}"""

NEEDS_ANOTHER = "This is Python {0}.{1}; the course's packages are there for Python 3.11 to 3.14."

MAY_FETCH = f"""\
None of these is installed. May uv fetch Python {FETCHED}, about 35 MB? Your system's
Python stays as it is, and no other program will use this one. [Y/n] """

INSTALL_ONE = """
Then install one of Python 3.11 to 3.14 (from python.org, your system's packages or conda), and
run the same command again: it finds the newest."""

MODULES = {"ctypes": "libffi-dev", "sqlite3": "libsqlite3-dev", "ssl": "libssl-dev"}
"""Modules that a Python lacks if it was built where these Debian packages were not installed."""

INCOMPLETE = (
    "{python} has no {missing}, which the course needs. Start the course with another Python, or "
    "install {packages} and build this one again."
)

SERVERS_PYTHON = "PYTREE_COURSE_PYTHON"
"""Environment variable in JupyterLab's terminals: its server's Python, which has the course."""

FOREIGN_VARIABLES = re.compile(
    r"PYTHON(HOME|PATH)|__PYVENV_LAUNCHER__|VIRTUAL_ENV(_PROMPT)?|CONDA_(DEFAULT_ENV|PREFIX)"
    r"|PIP_(PREFIX|PYTHON|REQUIRE_VIRTUALENV|TARGET|USER)|UV_(PREFIX|PROJECT_ENVIRONMENT|TARGET)"
)
"""Environment variables that would lead the installers or the course into another environment."""

# By pip's setting: uv does not read pip's configuration, where many universities name a mirror.
UV_VARIABLES = {
    "cert": "SSL_CERT_FILE",
    "index-url": "UV_INDEX_URL",
    "proxy": "ALL_PROXY",
    "trusted-host": "UV_INSECURE_HOST",
}


def choose_locks(arguments: Sequence[str]) -> list[Path]:
    """Return the locks that a command needs; what has been installed once stays up to date."""
    is_for_developers = arguments[0] in {"site", "test"} or "--dask" in arguments
    wants_more = is_for_developers and not wants_help(arguments)
    has_more = read_stamp().get("lock") == DEVELOPERS_LOCK.name
    if DEVELOPERS_LOCK.exists() and (wants_more or has_more):
        return [LEARNERS_LOCK, DEVELOPERS_LOCK]  # both, as a teacher may add a package to the first
    return [LEARNERS_LOCK]


def make_stamp(locks: Sequence[Path]) -> dict[str, str]:
    """Return the environment's location, interpreter and lock, and a digest of its contents."""
    # The real path distinguishes Python versions. Windows has a copy instead of the link.
    interpreter = os.path.realpath(PYTHON)
    if os.name == "nt":
        [interpreter] = re.findall(r"^home = (.*)", (VENV / "pyvenv.cfg").read_text("utf-8"), re.M)
    os.stat(interpreter)  # fails if it is gone
    digest = hashlib.sha256()
    settings = sorted(Path(__file__).with_name("jupyter").glob("*.*"))
    for file in [*locks, ROOT / "pyproject.toml", *settings]:
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    entries = {"location": str(VENV), "interpreter": interpreter, "lock": locks[-1].name}
    return {**entries, "digest": digest.hexdigest()}


def read_stamp() -> dict[str, str]:
    """Return the stamp of the installation; nothing if there is none."""
    try:
        return dict(json.loads(STAMP.read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def find_changes(locks: Sequence[Path]) -> set[str]:
    """Return the names of the stamp's entries that have changed since the installation."""
    try:
        stamp, current_stamp = read_stamp(), make_stamp(locks)
    except OSError:
        return {"stamp"}
    return {name for name in current_stamp if current_stamp[name] != stamp.get(name)}


def has_course() -> bool:
    """Return whether the running Python has this version of the course installed."""
    # Imported late because few commands need these two, and every command would wait for them.
    import importlib.metadata
    import importlib.util

    spec = importlib.util.find_spec("pytree_course")
    if Path(sys.prefix).resolve() == VENV or spec is None or spec.origin is None:
        return False
    # An author's copy runs its own code, not another copy of it.
    if (ROOT / "sources").is_dir() and ROOT not in Path(spec.origin).resolve().parents:
        return False
    [version] = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    installed = importlib.metadata.distributions(name="pytree-course")
    return any(distribution.version == version for distribution in installed)


def prepare(locks: Sequence[Path]) -> None:
    """Make or update the environment, unless another run has just done so."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the installer, too
    with open(ROOT / ".venv-lock", "a+b") as file:
        wait_for_turn(file.fileno())
        changes = find_changes(locks)
        if not changes:
            return
        LOG.write_text("", "utf-8")
        is_new = not changes <= {"lock", "digest"}
        is_supported = OLDEST <= sys.version_info[:2] <= NEWEST
        if is_new:
            if is_supported:
                require_modules(sys.executable)
            say("Making the course's environment, once: a few minutes, about 280 MB to download,")
            say("1.1 GB on disk.")
        elif "lock" in changes:
            say("Adding what tests and authors need: about 100 MB to download, once.")
        else:
            say("Updating the course's environment.")
        uv, settings = install_uv()
        if is_new:
            base = sys.executable if is_supported else find_python(uv, settings)
            # --clear: an interrupted run may leave a partial package, which uv does not detect.
            run_step([*uv, "venv", "--no-project", "--clear", "--python", base, VENV], settings)
        STAMP.unlink(missing_ok=True)
        install_packages(locks, uv, settings)
        shutil.rmtree(INSTALLER, ignore_errors=True)
        say("The environment is ready. Later starts skip this.\n")


def require_modules(python: str) -> None:
    """Exit if a Python was built without modules of the standard library that the course needs."""
    missing = [
        name
        for name in MODULES
        if subprocess.call([python, "-I", "-c", f"import {name}"], stderr=subprocess.DEVNULL) != 0
    ]
    if missing:
        packages = " and ".join(MODULES[name] for name in missing)
        names = " and ".join(missing)
        sys.exit(INCOMPLETE.format(python=python, missing=names, packages=packages))


def find_python(uv: Sequence[str], settings: Mapping[str, str]) -> str:
    """Return the newest installed Python that the lock has packages for, or one to be fetched."""
    say(NEEDS_ANOTHER.format(*sys.version_info))
    wanted = "cpython>={}.{},<{}.{}".format(*OLDEST, NEWEST[0], NEWEST[1] + 1)
    variables = {**settings, **child_variables()}
    # pyenv puts only one Python in PATH.
    pyenv = Path(variables.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin")
    variables["PATH"] = os.pathsep.join([variables["PATH"], *map(str, pyenv)])
    search = [*uv, "python", "list", "--only-installed", "--output-format", "json", wanted]
    found = subprocess.run(search, capture_output=True, cwd=ROOT, env=variables).stdout
    if installed := json.loads(found):
        newest = installed[0]["path"]
        require_modules(newest)
        say(f"The environment gets the Python that is installed as {newest}.")
        return newest
    say(MAY_FETCH, end="", flush=True)
    if not sys.stdin.isatty() or input().strip().lower() not in {"", "y", "yes"}:
        sys.exit(INSTALL_ONE)
    return FETCHED  # by `uv venv`


def wait_for_turn(descriptor: int) -> None:
    """Wait until no other process has locked a file, and lock it until it is closed.

    uv's own lock comes too late: before uv runs, an unfinished environment is deleted.
    """
    if not try_lock(descriptor):
        say("Another run of course.py is making the environment: waiting for it.")
        while not try_lock(descriptor):
            time.sleep(0.2)


def try_lock(descriptor: int) -> bool:
    """Lock a file, or return False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass  # some network drives do not support locks: continue without one
    return True


def install_packages(locks: Sequence[Path], uv: Sequence[str], settings: Mapping[str, str]) -> None:
    """Install the locked packages and the course; write the stamp last."""
    # Not `uv pip sync`, which queries the index even for installed packages.
    install = [*uv, "pip", "install", "--python", PYTHON]
    requirements = [part for lock in locks for part in ("--requirements", lock)]
    run_step([*install, "--compile-bytecode", *requirements], settings)
    # Packages bring their own tests: 80 MB.
    for folder in [*VENV.glob("[Ll]ib*/**/site-packages/**/tests")]:
        shutil.rmtree(folder, ignore_errors=True)
    course = ["--no-deps", "--no-build-isolation", "--reinstall-package", "pytree-course"]
    run_step([*install, *course, "--editable", ROOT], settings)
    # Python decodes this file by the locale: on Windows before Python 3.13, and with LC_ALL=C, a
    # path that is not ASCII makes it fail, so a relative path is written.
    for link in VENV.glob("[Ll]ib*/**/site-packages/_editable_impl_pytree_course.pth"):
        link.write_text(os.path.relpath(ROOT / "src", link.parent), "ascii")
    STAMP.write_text(json.dumps(make_stamp(locks), indent=1), "utf-8")


def install_uv() -> tuple[list[str], dict[str, str]]:
    """Install uv with pip; return its command, and pip's index settings as uv's variables."""
    run_step([*RUNNING, "-m", "venv", "--without-pip", "--clear", INSTALLER])
    python = python_of(INSTALLER)
    pip = [*RUNNING, "-m", "pip", "--python", python]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        pip = [python, *RUNNING[1:], "-m", "pip"]  # pip is missing, or older than 22.3
        run_step([python, *RUNNING[1:], "-m", "ensurepip"])
    run_step([*pip, "install", "--no-user", "--disable-pip-version-check", UV])
    configuration = subprocess.check_output([*pip, "config", "list"]).decode("utf-8", "replace")
    # Lines look like  global.index-url='...' ; variables come last, and override files.
    names = "|".join(UV_VARIABLES)
    found = re.findall(rf"^(?:global|install|:env:)\.({names})=(.+)$", configuration, re.M)
    settings = {UV_VARIABLES[name]: ast.literal_eval(raw).replace("\n", " ") for name, raw in found}
    return [python, *RUNNING[1:], "-m", "uv"], settings


def run_step(step: Sequence[str | Path], settings: Mapping[str, str] | None = None) -> None:
    """Run a step of the installation; if it fails, show the end of its output, and advice.

    The settings are environment variables; the user's own values override them.
    """
    variables = {**(settings or {}), **child_variables()}
    with LOG.open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            step,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=variables,
            encoding="utf-8",
            errors="replace",
        )
        try:
            show_progress(process.stdout or [], log)
            status = process.wait()
        except BaseException:
            process.kill()
            raise
    if status != 0:
        say(*LOG.read_text("utf-8").splitlines()[-20:], sep="\n")
        sys.exit(INSTALLATION_FAILED.format(free=shutil.disk_usage(ROOT).free / 1e9, log=LOG))


def show_progress(lines: Iterable[str], log: TextIO) -> None:
    """Copy an installer's output into the log; on a terminal, show uv's downloads in one line."""
    sizes: dict[str, float] = {}
    done, began = 0.0, time.monotonic()
    for line in lines:
        log.write(line)
        log.flush()
        if match := re.match(r"Downloading (\S+) .*?([\d.]+)MiB\)", line):
            sizes[match[1]] = float(match[2]) * 1.048576
        elif (match := re.match(r" Downloaded (\S+)", line)) and sys.stderr.isatty():
            done += sizes.get(match[1], 0)
            total = sum(sizes.values())
            left = (total - done) / max(done, 1) * (time.monotonic() - began)
            text = f"{done:.0f} of {total:.0f} MB, about {left:.0f} s left"
            say(f"\r  {text:<40}", end="", flush=True)
        elif line.startswith("Prepared") and done:
            say("\n  Installing: a minute.")


def child_variables() -> dict[str, str]:
    """Return the environment variables for a child process."""
    own = os.environ.items()
    return {name: value for name, value in own if not FOREIGN_VARIABLES.fullmatch(name)}


def run_command(python: str, arguments: Sequence[str]) -> int:
    """Run the course's command line with this Python and return its exit status."""
    # -P: a learner's file named jax.py in the current folder must not be imported instead.
    command = [python, "-P", "-m", "pytree_course", *arguments]
    variables = dict(os.environ)
    if python == PYTHON:
        variables = child_variables()
        variables["VIRTUAL_ENV"] = str(VENV)
        variables["PATH"] = os.pathsep.join([os.path.dirname(PYTHON), variables.get("PATH", "")])
    if ROOT not in [Path.cwd(), *Path.cwd().parents]:
        variables["PYTREE_COURSE"] = str(ROOT)
    return replace_process(command, variables)


def replace_process(command: list[str], variables: Mapping[str, str]) -> int:
    """Replace this process with a command; on Windows, run the command and wait."""
    if os.name == "posix":
        os.execve(command[0], command, variables)
    # Ctrl-C reaches the child too, which decides how to end. This process must not raise
    # KeyboardInterrupt, which could lose the exit status, nor ignore SIGINT, which the child would
    # inherit.
    signal.signal(signal.SIGINT, lambda signum, frame: None)
    return subprocess.Popen(command, env=variables).wait()


def main(arguments: Sequence[str]) -> int:
    """Run `course.py` with these arguments and return the exit status."""
    name = arguments[0] if arguments else "help"
    if name in {"help", "-h", "--help"}:
        print(HELP, end="")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        say(f"course.py has no command {name!r}.{hint}\n\n{HELP.rstrip()}")
        return 2
    try:
        return start(arguments)
    except OSError as error:
        say(f"\n{error}\nIs the disk full, or the folder read-only? Copy the course elsewhere.")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Finished downloads are kept: run the same command to go on.")
        return 130


def wants_help(arguments: Sequence[str]) -> bool:
    """Return whether a command is only to be described."""
    return "-h" in arguments or "--help" in arguments


def start(arguments: Sequence[str]) -> int:
    """Run a command with the first Python that has the course; if none has it, install it."""
    locks = choose_locks(arguments)
    if not find_changes(locks):
        return run_command(PYTHON, arguments)
    if wants_help(arguments):
        print(HELP, end="")  # without making an environment for it
        return 0
    if has_course():
        return run_command(sys.executable, arguments)
    servers_python = os.environ.get(SERVERS_PYTHON, sys.executable)
    if servers_python != sys.executable and shutil.which(servers_python):
        # JupyterLab's terminals are login shells. Many systems reset PATH in these, so that
        # `python3` is not the hub's Python.
        variables = dict(os.environ)
        del variables[SERVERS_PYTHON]  # so that the other Python does not delegate again
        command = [servers_python, "-P", str(ROOT / "course.py"), *arguments]
        return replace_process(command, variables)
    prepare(locks)
    return run_command(PYTHON, arguments)
