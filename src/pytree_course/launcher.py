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

COMMANDS = re.findall(r"^  (\w+)   ", HELP, re.M)

FAILED = """
The environment could not be made. Run the same command again: finished downloads are kept.
  - network: is this computer online? HTTPS_PROXY and pip's index-url, cert and proxy are used
  - disk: about 1.5 GB is needed, {free:.1f} GB are free; to start over, delete the folder .venv
  - no pip, ensurepip or venv: on Debian and Ubuntu, sudo apt install python3-venv python3-pip
  - "no wheels": JAX needs 64-bit CPython, on Linux with glibc, Apple-chip Macs or x86 Windows"""

SERVERS_PYTHON = "PYTREE_COURSE_PYTHON"
"""Environment variable in JupyterLab's terminals: its server's Python, which has the course."""

FOREIGN = re.compile(
    r"PYTHON(HOME|PATH)|__PYVENV_LAUNCHER__|VIRTUAL_ENV(_PROMPT)?|CONDA_(DEFAULT_ENV|PREFIX)"
    r"|PIP_(PREFIX|PYTHON|REQUIRE_VIRTUALENV|TARGET|USER)|UV_(PREFIX|PROJECT_ENVIRONMENT|TARGET)"
)
"""Environment variables that would lead the installers or the course into another environment."""

# uv does not read pip's configuration, in which many universities name their mirror.
UV_NAMES = {
    "cert": "SSL_CERT_FILE",
    "index-url": "UV_INDEX_URL",
    "proxy": "ALL_PROXY",
    "trusted-host": "UV_INSECURE_HOST",
}


def true_stamp() -> dict[str, str]:
    """Return the environment's location, its interpreter, and a digest of what it is made from."""
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


def outdated() -> set[str]:
    """Return the stamp's entries that have changed; none if the environment is up to date."""
    try:
        stamp = json.loads(STAMP.read_text("utf-8"))
        now = true_stamp()
    except (OSError, ValueError):
        return {"stamp"}
    return {name for name in now if now[name] != stamp.get(name)}


def has_course() -> bool:
    """Return whether the running Python has this version of the course installed."""
    # Imported here because few commands need them, and all would wait for them.
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


def servers_python() -> str | None:
    """Return the Python of the JupyterLab that this terminal belongs to, if it is another one.

    JupyterLab's terminals are login shells, in which many systems reset PATH, so that `python3` is
    not the hub's Python.
    """
    python = os.environ.get(SERVERS_PYTHON, sys.executable)
    return python if python != sys.executable and shutil.which(python) else None


def prepare() -> None:
    """Make the environment, or update it, unless another run has just done so."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the installer, too
    with open(ROOT / ".venv-lock", "a+b") as file:
        wait_for_turn(file.fileno())
        if changed := outdated():
            make(from_scratch=changed != {"digest"})


def wait_for_turn(descriptor: int) -> None:
    """Lock a file until it is closed, as soon as no other process has locked it.

    uv's own lock comes too late: before uv runs, an unfinished environment is deleted.
    """
    if not lock(descriptor):
        say("Another run of course.py is making the environment: waiting for it.")
        while not lock(descriptor):
            time.sleep(0.2)


def lock(descriptor: int) -> bool:
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


def make(from_scratch: bool) -> None:
    """Make or update the environment. The stamp is written last, and atomically."""
    STAMP.unlink(missing_ok=True)
    if from_scratch:
        say("Making the course's environment: about 350 MB to download, 1.5 GB on disk, once.")
        # --clear: an interrupted run may leave a partial package, which uv does not detect.
        install([sys.executable, "-P", "-m", "venv", "--without-pip", "--clear", VENV])
    else:
        say("Updating the course's environment.")
    settings = install_uv()
    # Not `uv pip sync`, which queries the index even for installed packages.
    uv = [PYTHON, "-P", "-m", "uv", "pip", "install", "--python", PYTHON]
    install([*uv, "--compile-bytecode", "--requirements", REQUIREMENTS], **settings)
    course = ["--no-deps", "--no-build-isolation", "--reinstall-package", "pytree-course"]
    install([*uv, *course, "--editable", ROOT], **settings)
    # Python decodes this file by the locale: on Windows before Python 3.13, and with LC_ALL=C, it
    # fails on a path that is not ASCII.
    for link in VENV.glob("[Ll]ib*/**/site-packages/_editable_impl_pytree_course.pth"):
        link.write_text(os.path.relpath(ROOT / "src", link.parent), "ascii")
    draft = STAMP.with_suffix(".draft")
    draft.write_text(json.dumps(true_stamp(), indent=1), "utf-8")
    os.replace(draft, STAMP)
    say("The environment is ready. Later starts skip this.\n")


def install_uv() -> dict[str, str]:
    """Install the locked version of uv with pip; return pip's index settings as uv's variables."""
    pip = [sys.executable, "-P", "-m", "pip", "--python", PYTHON]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        pip = [PYTHON, "-P", "-m", "pip"]  # there is no pip, or one older than 22.3
        install([PYTHON, "-P", "-m", "ensurepip"])
    [uv] = re.findall(r"^uv==.*", REQUIREMENTS.read_text("utf-8"), re.M)
    install([*pip, "install", "--no-user", "--disable-pip-version-check", uv])
    listed = subprocess.check_output([*pip, "config", "list"]).decode("utf-8", "replace")
    # Lines look like  global.index-url='...' ; variables come last, and override files.
    found = re.findall(rf"^(?:global|install|:env:)\.({'|'.join(UV_NAMES)})=(.+)$", listed, re.M)
    return {UV_NAMES[name]: ast.literal_eval(value).replace("\n", " ") for name, value in found}


def install(step: Sequence[str | Path], **settings: str) -> None:
    """Run a step of the installation, with its output on standard error.

    The settings are environment variables; those that the user has set are stronger.
    """
    environment = dict(settings)
    environment.update(child_environment())
    status = subprocess.call(
        step, stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=ROOT, env=environment
    )
    if status != 0:
        sys.exit(FAILED.format(free=shutil.disk_usage(ROOT).free / 1e9))


def child_environment() -> dict[str, str]:
    """Return the environment variables for a child process."""
    return {name: value for name, value in os.environ.items() if not FOREIGN.fullmatch(name)}


def run_command(python: str, arguments: Sequence[str]) -> int:
    """Run the course's command line in a Python's environment and return its exit status."""
    # -P: a learner's file named jax.py in the current folder must not be imported instead.
    command = [python, "-P", "-m", "pytree_course", *arguments]
    variables = dict(os.environ)
    if python == PYTHON:
        variables = child_environment()
        variables["VIRTUAL_ENV"] = str(VENV)
        variables["PATH"] = os.pathsep.join([os.path.dirname(PYTHON), variables.get("PATH", "")])
    if ROOT not in [Path.cwd(), *Path.cwd().parents]:
        variables["PYTREE_COURSE"] = str(ROOT)
    return become(command, variables)


def become(command: list[str], variables: Mapping[str, str]) -> int:
    """Replace this process with a command; where the system cannot, run it and wait."""
    if os.name == "posix":
        os.execve(command[0], command, variables)
    # Ctrl-C reaches the child too, which decides how to end. KeyboardInterrupt is not caught around
    # the wait: raised just after the exit status was collected, it would lose it. SIGINT is not
    # ignored either, because the child would inherit that.
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
    """Run a command in the first Python that has the course; if none has it, make one."""
    if not outdated():
        return run_command(PYTHON, arguments)
    if "-h" in arguments or "--help" in arguments:
        print(HELP, end="")  # for which no environment is made
        return 0
    if has_course():
        return run_command(sys.executable, arguments)
    if servers := servers_python():
        # Without the variable, so that the other Python does not delegate again.
        variables = {name: text for name, text in os.environ.items() if name != SERVERS_PYTHON}
        return become([servers, "-P", str(ROOT / "course.py"), *arguments], variables)
    prepare()
    return run_command(PYTHON, arguments)
