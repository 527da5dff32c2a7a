"""The launcher behind course.py: make the environment once with uv, then run commands in it.

It imports the standard library only, because nothing may be installed yet. If the course is
installed in its own Python, as on a hub or in conda, it makes no environment.
"""

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
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements.txt"
VENV = ROOT / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
STAMP = VENV / "pytree-course.json"

# Standard output belongs to the command.
say = functools.partial(print, file=sys.stderr)

HELP = Path(__file__).with_name("help.txt").read_text("utf-8")
"""What `course.py` prints before anything is installed."""

COMMANDS = re.findall(r"^  (\w+)   ", HELP, re.M)  # HELP lists them all

INSTALLATION_FAILED = """
The environment could not be made. Run the same command again: finished downloads are kept.
  - network: is this computer online? HTTPS_PROXY and pip's index-url, cert and proxy are used
  - disk: about 1.5 GB is needed, {free:.1f} GB are free; to start over, delete the folder .venv
  - no pip, ensurepip or venv: on Debian and Ubuntu, sudo apt install python3-venv python3-pip
  - "no wheels": JAX needs 64-bit CPython, on Linux with glibc, Apple-chip Macs or x86 Windows"""

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


def make_stamp() -> dict[str, str]:
    """Return the environment's location, its interpreter, and a digest of its requirements."""
    # The real path distinguishes Python versions. Windows has a copy instead of the link.
    interpreter = os.path.realpath(PYTHON)
    if os.name == "nt":
        [interpreter] = re.findall(r"^home = (.*)", (VENV / "pyvenv.cfg").read_text("utf-8"), re.M)
    os.stat(interpreter)  # fails if it is gone
    digest = hashlib.sha256()
    settings = sorted(Path(__file__).with_name("jupyter").glob("*.*"))
    for file in [REQUIREMENTS, ROOT / "pyproject.toml", *settings]:
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return {"location": str(VENV), "interpreter": interpreter, "digest": digest.hexdigest()}


def find_changes() -> set[str]:
    """Return the names of the stamp's entries that have changed since the installation."""
    try:
        stamp = json.loads(STAMP.read_text("utf-8"))
        current_stamp = make_stamp()
    except (OSError, ValueError):
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


def prepare() -> None:
    """Make or update the environment, unless another run has just done so."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the installer, too
    with open(ROOT / ".venv-lock", "a+b") as file:
        wait_for_turn(file.fileno())
        changes = find_changes()
        if not changes:
            return
        STAMP.unlink(missing_ok=True)
        if changes == {"digest"}:
            say("Updating the course's environment.")
        else:
            say("Making the course's environment: about 350 MB to download, 1.5 GB on disk, once.")
            # --clear: an interrupted run may leave a partial package, which uv does not detect.
            run_step([sys.executable, "-P", "-m", "venv", "--without-pip", "--clear", VENV])
        install_packages()


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


def install_packages() -> None:
    """Install the locked packages and the course; write the stamp last, and atomically."""
    settings = install_uv()
    # Not `uv pip sync`, which queries the index even for installed packages.
    uv = [PYTHON, "-P", "-m", "uv", "pip", "install", "--python", PYTHON]
    run_step([*uv, "--compile-bytecode", "--requirements", REQUIREMENTS], **settings)
    course = ["--no-deps", "--no-build-isolation", "--reinstall-package", "pytree-course"]
    run_step([*uv, *course, "--editable", ROOT], **settings)
    # Python decodes this file by the locale: on Windows before Python 3.13, and with LC_ALL=C, a
    # path that is not ASCII makes it fail, so a relative path is written.
    for link in VENV.glob("[Ll]ib*/**/site-packages/_editable_impl_pytree_course.pth"):
        link.write_text(os.path.relpath(ROOT / "src", link.parent), "ascii")
    draft = STAMP.with_suffix(".draft")
    draft.write_text(json.dumps(make_stamp(), indent=1), "utf-8")
    os.replace(draft, STAMP)
    say("The environment is ready. Later starts skip this.\n")


def install_uv() -> dict[str, str]:
    """Install the locked version of uv with pip; return pip's index settings as uv's variables."""
    pip = [sys.executable, "-P", "-m", "pip", "--python", PYTHON]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        pip = [PYTHON, "-P", "-m", "pip"]  # pip is missing, or older than 22.3
        run_step([PYTHON, "-P", "-m", "ensurepip"])
    [uv] = re.findall(r"^uv==.*", REQUIREMENTS.read_text("utf-8"), re.M)
    run_step([*pip, "install", "--no-user", "--disable-pip-version-check", uv])
    configuration = subprocess.check_output([*pip, "config", "list"]).decode("utf-8", "replace")
    # Lines look like  global.index-url='...' ; variables come last, and override files.
    names = "|".join(UV_VARIABLES)
    settings = re.findall(rf"^(?:global|install|:env:)\.({names})=(.+)$", configuration, re.M)
    return {UV_VARIABLES[name]: ast.literal_eval(raw).replace("\n", " ") for name, raw in settings}


def run_step(step: Sequence[str | Path], **settings: str) -> None:
    """Run a step of the installation, with its output on standard error.

    The settings are environment variables; the user's own values override them.
    """
    variables = dict(settings)
    variables.update(child_variables())
    status = subprocess.call(
        step, stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=ROOT, env=variables
    )
    if status != 0:
        sys.exit(INSTALLATION_FAILED.format(free=shutil.disk_usage(ROOT).free / 1e9))


def child_variables() -> dict[str, str]:
    """Return the environment variables for a child process."""
    names = [name for name in os.environ if not FOREIGN_VARIABLES.fullmatch(name)]
    return {name: os.environ[name] for name in names}


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


def start(arguments: Sequence[str]) -> int:
    """Run a command with the first Python that has the course; if none has it, install it."""
    if not find_changes():
        return run_command(PYTHON, arguments)
    if "-h" in arguments or "--help" in arguments:
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
    prepare()
    return run_command(PYTHON, arguments)
