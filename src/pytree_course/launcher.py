"""What course.py does: make the course's environment once, then run commands in it.

Only the standard library is used: when this runs, nothing may be installed yet. Where the course
is installed already, as on a hub or in conda, nothing is made.
"""

import ast
import difflib
import functools
import hashlib
import itertools
import json
import os
import platform
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

# Standard output is the command's.
say = functools.partial(print, file=sys.stderr)

HELP = Path(__file__).with_name("help.txt").read_text("utf-8")
"""What `course.py` prints before anything is installed."""

COMMANDS = re.findall(r"^  (\w+)   ", HELP, re.M)

FAILED = """
The environment could not be made. Run the same command again: finished downloads are kept.
  - network: is this computer online? HTTPS_PROXY and pip's index-url, cert and proxy are used
  - disk: about 1.5 GB is needed, {free:.1f} GB are free; to begin anew, delete the folder .venv
  - no pip, ensurepip or venv: on Debian and Ubuntu, sudo apt install python3-venv python3-pip"""

SERVERS_PYTHON = "PYTREE_COURSE_PYTHON"
"""Environment variable in JupyterLab's terminals: its server's Python, which has the course."""

# What other environments and tools left in the terminal, but not how to reach an index.
FOREIGN = re.compile(
    r"(PIP|UV)_(?!\w*(CACHE_DIR|CERT|CONCURRENT|CONFIG_FILE|FIND_LINKS|HOST|HTTP|INDEX|KEYRING"
    r"|LINK_MODE|OFFLINE|PROXY|RETRIES|TIMEOUT|TLS))\w+"
    r"|PYTHON(DONTWRITEBYTECODE|EXECUTABLE|HOME|PATH|STARTUP)|__PYVENV_LAUNCHER__"
    r"|VIRTUAL_ENV(_PROMPT)?|CONDA_(DEFAULT_ENV|PREFIX)"
)
# uv does not read pip's configuration, in which many universities name their mirror.
UV_NAMES = {
    "cert": "SSL_CERT_FILE",
    "index-url": "UV_INDEX_URL",
    "proxy": "ALL_PROXY",
    "trusted-host": "UV_INSECURE_HOST",
}


def unsupported(system: str, machine: str, maxsize: int, python: str, build: str) -> str | None:
    """Return why JAX can't be installed for this Python, or None if it can."""
    on = f"{system} {machine}"
    reasons = {
        f"{python}: please use the usual Python, from python.org": python != "CPython",
        "32-bit Pythons: please call course.py with a 64-bit one": maxsize < 2**32,
        "Intel Macs. On an Apple chip, use python.org's Python; or Binder": on == "darwin x86_64",
        "Windows on ARM: use python.org's 64-bit x86 (AMD64) Python, or WSL": on == "win32 arm64",
        "Alpine and other Linuxes with musl: please use one with glibc": "musl" in build,
        f"this processor ({machine})": machine not in {"x86_64", "amd64", "arm64", "aarch64"},
    }
    return next((f"JAX has no packages for {what}." for what, so in reasons.items() if so), None)


def true_stamp() -> dict[str, str]:
    """Return where the environment is, its Python, and the digest of what it is made from."""
    # Its real path tells one version from the next. Windows has a copy in place of the link.
    interpreter = os.path.realpath(PYTHON)
    if os.name == "nt":
        [interpreter] = re.findall(r"^home = (.*)", (VENV / "pyvenv.cfg").read_text("utf-8"), re.M)
    os.stat(interpreter)  # Fails if it is gone.
    digest = hashlib.sha256()
    settings = sorted(file for file in (ROOT / "jupyter").glob("*") if file.is_file())
    for file in [REQUIREMENTS, ROOT / "pyproject.toml", *settings]:
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    stamp = {"location": str(VENV), "interpreter": interpreter, "digest": digest.hexdigest()}
    # The same in every locale, in which an accent may be read as something else.
    return {name: os.fsencode(text).decode("utf-8", "replace") for name, text in stamp.items()}


def outdated() -> set[str]:
    """Return the stamp's entries that have changed; none if the environment is up to date."""
    try:
        stamp, now = json.loads(STAMP.read_text("utf-8")), true_stamp()
    except (OSError, ValueError):
        return {"stamp"}
    return {name for name in now if now[name] != stamp.get(name)}


def will_do(command: str) -> bool:
    """Say whether the Python that runs this has the course, and all that a command needs."""
    if Path(sys.prefix).resolve() == VENV:
        return False
    # Not at the top: every command would wait for these, and few need them.
    import importlib.metadata
    import importlib.util
    import tomllib

    try:
        from packaging.requirements import Requirement

        installed = importlib.metadata.distribution("pytree-course")
    except ImportError:
        return False
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if installed.version != project["version"]:
        return False
    if (ROOT / "sources").is_dir():  # An author's copy runs its own code, not one like it.
        spec = importlib.util.find_spec("pytree_course")
        if spec is None or spec.origin is None or ROOT not in Path(spec.origin).resolve().parents:
            return False
    extra = "dev" if command == "test" and (ROOT / "tests").is_dir() else ""
    lacking = []
    for requirement in map(Requirement, installed.requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            try:
                version = importlib.metadata.version(requirement.name)
            except ImportError:
                version = None
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                lacking.append(f"{requirement.name}{requirement.specifier}")
    if lacking:
        say(f"This Python has the course, but not {', '.join(lacking)}.")
    return not lacking


def servers_python() -> str | None:
    """Return the Python of the JupyterLab that this terminal is in, if it is another one.

    Its terminals are login shells, in which many systems set PATH anew: `python3` is then not
    the Python of the hub.
    """
    python = os.environ.get(SERVERS_PYTHON)
    return python if python not in {None, sys.executable} and shutil.which(python) else None


def prepare() -> None:
    """Make the environment, or update it, unless another run has just done so."""
    machine, python = platform.machine().lower(), platform.python_implementation()
    if reason := unsupported(sys.platform, machine, sys.maxsize, python, str(sys.implementation)):
        sys.exit(reason)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # It ends the installer as well.
    with open(ROOT / ".venv-lock", "a+b") as file:
        wait_for_turn(file.fileno())
        if wrong := outdated():
            make(anew=wrong != {"digest"})


def wait_for_turn(descriptor: int) -> None:
    """Wait until no other run holds this lock. uv's own does not cover the steps before uv."""
    os.set_inheritable(descriptor, True)
    for attempt in itertools.count():
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except (BlockingIOError, PermissionError):
            if attempt == 0:
                say("Another run of course.py is making the environment: waiting for it.")
            time.sleep(0.2)
        except OSError:
            return  # Some network drives can't lock: better without than not at all.


def make(anew: bool) -> None:
    """Make or update the environment. Its stamp is written last of all, and atomically."""
    variables = child_environment()
    STAMP.unlink(missing_ok=True)
    if anew:
        say("Making the course's environment: about 350 MB to download, 1.5 GB on disk, once.")
        # --clear: in an unfinished one a package may be half there, which uv does not notice.
        install([sys.executable, "-P", "-m", "venv", "--without-pip", "--clear", VENV], variables)
    else:
        say("Updating the course's environment.")
    variables = {**install_uv(variables), **variables}
    # Not `uv pip sync`, which asks the index also for what is installed.
    uv = [PYTHON, "-P", "-m", "uv", "pip", "install", "--python", PYTHON]
    install([*uv, "--compile-bytecode", "--requirements", REQUIREMENTS], variables)
    course = ["--no-deps", "--no-build-isolation", "--reinstall-package", "pytree-course"]
    install([*uv, *course, "--editable", ROOT], variables)
    # Its absolute path stops Python where the locale cannot read it: LC_ALL=C, and an accent in it.
    for link in VENV.glob("[Ll]ib*/**/site-packages/_editable_impl_pytree_course.pth"):
        link.write_text(os.path.relpath(ROOT / "src", link.parent), "ascii")
    draft = STAMP.with_suffix(".draft")
    draft.write_text(json.dumps(true_stamp(), indent=1), "utf-8")
    os.replace(draft, STAMP)
    say("The environment is ready. Later starts do without this.\n")


def install_uv(variables: Mapping[str, str]) -> dict[str, str]:
    """Install the pinned uv with pip; return pip's settings of how to reach the index for uv."""
    pip = [sys.executable, "-P", "-m", "pip", "--python", PYTHON]
    if subprocess.run([*pip, "--version"], capture_output=True, env=variables).returncode != 0:
        # There is no pip, or one older than 22.3, which does not know --python.
        pip = [PYTHON, "-P", "-m", "pip"]
        install([PYTHON, "-P", "-m", "ensurepip"], variables)
    [uv] = re.findall(r"^uv==.*", REQUIREMENTS.read_text("utf-8"), re.M)
    install([*pip, "install", "--no-user", "--disable-pip-version-check", uv], variables)

    settings = {}
    listed = subprocess.check_output([*pip, "config", "list"], env=variables)
    # Lines look like  global.index-url='...' ; a variable weighs more than a file.
    for section in ("global", "install", ":env:"):
        line = rf"^{section}\.({'|'.join(UV_NAMES)})=(.+)$"
        for name, value in re.findall(line, listed.decode("utf-8", "replace"), re.M):
            settings[UV_NAMES[name]] = " ".join(ast.literal_eval(value).split("\n")).strip()
    return settings


def install(step: Sequence[str | Path], variables: Mapping[str, str]) -> None:
    """Run a step of the installation, with its output on standard error."""
    # The step inherits the lock's open file: if this run is killed, the step still holds the lock.
    status = subprocess.call(
        step, stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=ROOT, env=variables, close_fds=False
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
        variables = {**child_environment(), "VIRTUAL_ENV": str(VENV)}
        variables["PATH"] = os.pathsep.join([os.path.dirname(PYTHON), variables.get("PATH", "")])
    if ROOT not in [Path.cwd(), *Path.cwd().parents]:
        variables["PYTREE_COURSE"] = str(ROOT)
    return become(command, variables)


def become(
    command: list[str], variables: Mapping[str, str], can_exec: bool = os.name == "posix"
) -> int:
    """Replace this process by a command; where the system cannot, run it and wait."""
    if can_exec:
        os.execve(command[0], command, variables)
    # Ctrl-C reaches the child too, which decides how to end. KeyboardInterrupt is not caught around
    # the wait: it may come just after the exit status was collected, which would be lost. SIGINT is
    # not ignored either, because the child would inherit that.
    signal.signal(signal.SIGINT, lambda signum, frame: None)
    return subprocess.Popen(command, env=variables).wait()


def main(arguments: Sequence[str]) -> int:
    """Run `course.py` with these arguments and return the exit status."""
    name = arguments[0] if arguments else "help"
    asks_for_help = not {"-h", "--help"}.isdisjoint(arguments)  # Not worth a large download.
    if name in {"help", "-h", "--help"} or (name in COMMANDS and asks_for_help and outdated()):
        print(HELP, end="")
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        say(f"course.py has no command {name!r}.{hint}\n\n{HELP.rstrip()}")
        return 2
    try:
        python = PYTHON
        if outdated():
            if will_do(name):
                python = sys.executable
            elif servers := servers_python():
                # That Python decides for itself, and must not hand over once more.
                others = {key: text for key, text in os.environ.items() if key != SERVERS_PYTHON}
                return become([servers, "-P", str(ROOT / "course.py"), *arguments], others)
            else:
                prepare()
        return run_command(python, arguments)
    except OSError as error:
        say(f"\n{error}\nIs the disk full, or the folder read-only? Copy the course elsewhere.")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Finished downloads are kept: run the same command to go on.")
        return 130
