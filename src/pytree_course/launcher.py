"""What course.py does: make the course's environment once, then run commands in it.

Only the standard library is used, and nothing of this package: when this runs,
nothing is installed yet.
"""

import ast
import contextlib
import difflib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]

COMMANDS = {
    "lab": "open the lessons in JupyterLab, at lesson 1",
    "check": "grade your exercises of one lesson:  check 1",
    "progress": "show what you have solved so far",
    "reset": "start a lesson's exercises afresh:  reset 1",
    "test": "run all of the course's own tests",
    "release": "for teachers: write the learners' bundle:  release DIR",
    "grade": "for teachers: grade a class:  grade FOLDER --into DIR",
    "build": "for authors: make the notebooks from sources/",
}

HELP = """\
Pytrees in JAX: five hands-on lessons, with exercises that check themselves.

  python3 course.py lab        begin here

The first command makes the course's own environment in the folder .venv beside
this file. That takes a minute or a few, once; nothing else on this computer is
changed. (On Windows write py or python instead of python3.)

Commands:
{commands}

python3 course.py COMMAND --help tells more about one of them.
To begin again with a new environment, delete the folder .venv."""

# What another environment or another tool's settings left in the terminal. Settings
# of how to reach the package index (mirrors, proxies, certificates) are kept.
FOREIGN = {
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "PIP_CONSTRAINT",
    "PIP_DRY_RUN",
    "PIP_IGNORE_INSTALLED",
    "PIP_NO_BINARY",
    "PIP_NO_DEPS",
    "PIP_ONLY_BINARY",
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_QUIET",
    "PIP_REQUIREMENT",
    "PIP_REQUIRE_HASHES",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "VIRTUAL_ENV",
    "VIRTUAL_ENV_PROMPT",
    "__PYVENV_LAUNCHER__",
}
UV_SETTINGS_KEPT = re.compile(
    r"UV_(CACHE_DIR|CONCURRENT_\w+|CONFIG_FILE|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|HTTP_\w+"
    r"|INDEX|INDEX_\w+|INSECURE_HOST|KEYRING_PROVIDER|LINK_MODE|NATIVE_TLS|OFFLINE|SYSTEM_CERTS"
    r"|COMPILE_BYTECODE_TIMEOUT)"
)

DEBIAN_HINT = "On Debian and Ubuntu:  sudo apt install python3-venv python3-pip"
ADVICE = """\
What to try: run the same command again; finished downloads are kept. If it fails again:
  - network: is this computer online? Behind a proxy, set HTTPS_PROXY first;
    with a mirror, pip's own settings (index-url, cert) are used
  - disk: the environment takes about {size}; {free:.1f} GB are free here
  - to begin anew, delete the folder .venv"""
DOWNLOAD = "350 MB"
SIZE = "1.5 GB"

# In the state file while an installation is under way.
UNFINISHED = "unfinished"


# The open lock file, while it is this run's turn to make the environment.
TURN: list[int] = []


class LauncherError(Exception):
    """Something the person at the keyboard has to know; the text is all they see."""


# --- is this computer one that JAX runs on? ---------------------------------------


def unsupported(
    *,
    system: str = sys.platform,
    machine: str = platform.machine(),
    bits: int = 64 if sys.maxsize > 2**32 else 32,
    implementation: str = platform.python_implementation(),
    musl: bool = "musl" in (getattr(sys.implementation, "_multiarch", "") or ""),
) -> str | None:
    """Say why JAX can't be installed for this Python, or return None if it can."""
    machine = machine.lower()
    if implementation != "CPython":
        return (
            f"JAX has no packages for {implementation}. Please use the usual Python, from "
            "python.org, your system's packages or conda."
        )
    if bits != 64:
        return (
            "This is a 32-bit Python, and JAX has packages for 64-bit Pythons only.\n"
            "Please install a 64-bit Python and call course.py with that one."
        )
    if system == "darwin" and machine == "x86_64":
        return (
            "This Python is built for Intel Macs, and JAX no longer has packages for those.\n"
            "If your Mac has an Apple chip (M1 or newer), install Python from python.org or a\n"
            "native conda, and call course.py with that one. On an Intel Mac, use the course on\n"
            "another computer or on Binder."
        )
    if system == "win32" and machine == "arm64":
        return (
            "JAX has no packages for Windows on ARM. Install the 64-bit x86 (AMD64) Python from\n"
            "python.org, which Windows runs too, or use WSL."
        )
    if system.startswith("linux") and musl:
        return (
            "This Linux (Alpine or another one with musl) has no JAX packages. Please use a\n"
            "Linux with glibc, for instance Debian, Ubuntu or Fedora."
        )
    if machine not in {"x86_64", "amd64", "arm64", "aarch64"}:
        return f"JAX has no packages for this computer's processor ({machine})."
    return None


# --- the environment and its stamp --------------------------------------------------


class Environment:
    """The folder .venv: what is in it, and whether it is what the lock asks for.

    Its state file says where the environment was made and, written last of all,
    the digest of everything it was made from.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.path = root / ".venv"
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.scripts = self.path / scripts
        self.python = self.scripts / ("python.exe" if os.name == "nt" else "python")
        self.state_file = self.path / "pytree-course.json"
        self.lock = root / "requirements.txt"

    def digest(self) -> str:
        """Return the digest of all that the environment is made from."""
        settings = sorted(p for p in (self.root / "jupyter").glob("*") if p.is_file())
        digest = hashlib.sha256()
        for file in [self.lock, self.root / "pyproject.toml", *settings]:
            digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
        return digest.hexdigest()

    def place(self) -> dict[str, str]:
        """Return what has to stay as it is: scripts and links hold these paths.

        The interpreter's real path carries its version where systems replace
        one Python by the next, as in /usr/bin/python3.11.
        """
        interpreter = os.path.realpath(self.python)
        if os.name == "nt":
            interpreter = self._base()
        # The same in every locale, in which an accent may be read as something else.
        places = {"location": str(self.path), "interpreter": interpreter}
        return {name: os.fsencode(path).decode("utf-8", "replace") for name, path in places.items()}

    def _base(self) -> str:
        """Return the folder of the Python that the environment was made with."""
        with contextlib.suppress(OSError):
            for line in (self.path / "pyvenv.cfg").read_text("utf-8").splitlines():
                key, _, value = line.partition("=")
                if key.strip() == "home":
                    return value.strip()
        return ""

    def state(self) -> dict[str, str]:
        """Return what the state file says; nothing if there is none to be read."""
        try:
            state = json.loads(self.state_file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def write_state(self, digest: str) -> None:
        """Write the state file in one go, so that it is never half there."""
        draft = self.state_file.with_suffix(".draft")
        draft.write_text(json.dumps({**self.place(), "digest": digest}, indent=1), "utf-8")
        os.replace(draft, self.state_file)

    def is_ready(self) -> bool:
        """Return whether nothing is left to do. Takes a millisecond, starts nothing."""
        return (
            self.python.exists()
            and os.path.isdir(self._base())
            and self.state() == {**self.place(), "digest": self.digest()}
        )

    def broken(self) -> str | None:
        """Return why an environment that is there can't be used, or None."""
        if not self.python.exists() or not os.path.isdir(self._base()):
            return "the Python it was made with is gone"
        state = self.state()
        if state.get("digest") == UNFINISHED:
            # A package may be half there, which no installer notices. Downloads are kept.
            return "its installation was interrupted"
        if state and state.get("location") != self.place()["location"]:
            return "the folder was moved or copied"
        if state and state.get("interpreter") != self.place()["interpreter"]:
            return "the Python it was made with was replaced"
        probe = "import sys, encodings; print(sys.version_info >= (3, 11), sys.prefix)"
        try:
            answer = subprocess.run(
                [str(self.python), "-I", "-c", probe],
                capture_output=True,
                text=True,
                timeout=60,
                env=child_environment(),
            )
        except (OSError, subprocess.TimeoutExpired):
            return "its Python does not start"
        if answer.returncode != 0:
            return "its Python does not start"
        recent, _, prefix = answer.stdout.strip().partition(" ")
        if recent != "True":
            return "its Python is older than 3.11"
        if os.path.realpath(prefix) != os.path.realpath(self.path):
            return "its Python belongs to another environment"
        return None

    def uv_wanted(self) -> str:
        """Return the requirement of the installer, as the lock has it."""
        found = re.search(r"^uv==[^\s;]+", self.lock.read_text("utf-8"), re.MULTILINE)
        if found is None:
            raise LauncherError("requirements.txt names no version of uv: please restore it.")
        return found.group()


def child_environment(
    base: Mapping[str, str] | None = None, *, activated: Environment | None = None
) -> dict[str, str]:
    """Return the environment variables for a child process.

    Parameters
    ----------
    base
        The variables to start from; this process's by default.
    activated
        The environment to put first on PATH, as its activate script would.
    """
    base = os.environ if base is None else base
    result = {
        name: value
        for name, value in base.items()
        if name not in FOREIGN
        and not (name.startswith("UV_") and not UV_SETTINGS_KEPT.fullmatch(name))
    }
    # A ★ must not end a run in a terminal that has no ★.
    result.setdefault("PYTHONIOENCODING", "utf-8:replace")
    if activated is not None:
        result["VIRTUAL_ENV"] = str(activated.path)
        result["PATH"] = os.pathsep.join([str(activated.scripts), result.get("PATH", "")])
    return result


# --- running the installers -----------------------------------------------------------


class Steps:
    """Numbered steps with their time, on standard error: standard output is the command's."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.began = time.monotonic()
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Show a step; yields a function that shows what it is busy with."""
        self.done += 1
        self.began_step = self.last_shown = time.monotonic()
        self.head = f"{self.done}/{self.total} {title}"
        self._show(f"{self.head} ...", end="" if self.live else "\n")
        yield self._busy
        self._end(f"done in {self._elapsed()}")

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self.began_step:.1f} s"

    def _busy(self, detail: str) -> None:
        # A terminal gets one line that changes, a log a new line now and then.
        now = time.monotonic()
        if now - self.last_shown < (0.2 if self.live else 15):
            return
        self.last_shown = now
        if self.live:
            line = f"{self.head} ... {now - self.began_step:.0f} s  {detail}"
            width = shutil.get_terminal_size().columns - 1
            self._show("\r" + line[:width].ljust(width), end="")
        else:
            self._show(f"    {now - self.began_step:.0f} s  {detail}")

    def _end(self, text: str) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            self._show("\r" + f"{self.head} ... {text}"[:width].ljust(width))
        else:
            self._show(f"    {text}")

    @staticmethod
    def _show(text: str, end: str = "\n") -> None:
        print(text, end=end, file=sys.stderr, flush=True)


def run_installer(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    folder: Path,
    busy: Callable[[str], None] = lambda detail: None,
) -> tuple[int, str]:
    """Run a command, telling `busy` its latest line, and return its exit status and output."""
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=folder,
        env=dict(environment),
        # Should this process be killed, its turn lasts until the installer has ended too.
        pass_fds=TURN,
    )
    lines: list[str] = []

    def collect() -> None:
        for line in process.stdout or ():
            lines.append(line)

    reader = threading.Thread(target=collect, daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            time.sleep(0.05)
            busy(lines[-1].strip() if lines else "")
    except BaseException:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        raise
    reader.join(5)
    return process.returncode, "".join(lines)


def pip_settings(pip: Sequence[str | Path], environment: Mapping[str, str]) -> dict[str, str]:
    """Return pip's settings of how to reach the package index, in uv's words.

    uv does not read pip's configuration, which is where many universities and
    companies name their mirror and their certificates.
    """
    words = {
        "cert": "SSL_CERT_FILE",
        "index-url": "UV_DEFAULT_INDEX",
        "proxy": "ALL_PROXY",
        "trusted-host": "UV_INSECURE_HOST",
    }
    answer = subprocess.run(
        [*map(str, pip), "config", "list"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=dict(environment),
    )
    # Lines look like  global.index-url='...' ; a variable weighs more than a file.
    lines = re.findall(r"^(global|install|:env:)\.([\w-]+)=(.+)$", answer.stdout, re.MULTILINE)
    lines.sort(key=lambda line: ["global", "install", ":env:"].index(line[0]))
    found: dict[str, str] = {}
    for _, name, value in lines:
        if name in words:
            with contextlib.suppress(ValueError, SyntaxError):
                found[words[name]] = str(ast.literal_eval(value)).strip()
    if "UV_INDEX_URL" in environment:
        found.pop("UV_DEFAULT_INDEX", None)
    return {name: value for name, value in found.items() if name not in environment}


def failed(title: str, output: str, environment: Environment) -> LauncherError:
    """Return the error of a failed step: its output, and what to try."""
    free = shutil.disk_usage(environment.root).free / 1e9
    return LauncherError(
        f"{output.rstrip()}\n\nThis step failed: {title}.\n{ADVICE.format(size=SIZE, free=free)}"
    )


# --- making the environment -------------------------------------------------------------


def prepare(environment: Environment) -> None:
    """Make the environment, or bring it up to date, unless it already is."""
    if environment.is_ready():
        return
    complaint = unsupported()
    if complaint:
        raise LauncherError(complaint)
    with alone(environment):
        # Another run may have made it while this one waited.
        if not environment.is_ready():
            try:
                make(environment)
            except OSError as error:
                raise LauncherError(
                    f"The environment can't be written: {error}.\n"
                    "Is the disk full, or the course's folder read-only? Copy the course to a "
                    "folder of your own."
                ) from None


def make(environment: Environment) -> None:
    """Make what is missing, step by step."""
    exists = os.path.lexists(environment.path)
    trouble = environment.broken() if exists else None
    if trouble:
        say(f"The environment in .venv can't be used: {trouble}. Making it anew.")
        shutil.rmtree(environment.path)
        exists = False
    elif exists:
        say("Bringing the course's environment in .venv up to date.")
    else:
        say(
            "Making the course's environment in .venv, this once: about "
            f"{DOWNLOAD} to download, {SIZE} on disk."
        )
    steps = Steps(total=3 if exists else 4)
    variables = child_environment()
    if not exists:
        with steps.step(f"An empty environment for Python {platform.python_version()}"):
            create_empty(environment)
    environment.write_state(UNFINISHED)
    title = f"The installer, {environment.uv_wanted().replace('==', ' ')}"
    with steps.step(title) as busy:
        pip = install_uv(environment, variables, title, busy)
    if pip:
        variables.update(pip_settings(pip, variables))

    count = len(re.findall(r"^\w", environment.lock.read_text("utf-8"), re.MULTILINE))
    title = f"JAX, JupyterLab and the like (about {count // 10 * 10} packages)"
    uv: list[str | Path] = [environment.python, "-m", "uv", "pip", "install"]
    uv += ["--python", environment.python]
    with steps.step(title) as busy:
        command = [*uv, "--compile-bytecode", "-r", environment.lock]
        status, output = run_installer(
            command, environment=variables, folder=environment.root, busy=busy
        )
        if status != 0:
            raise failed(title, output, environment)
    title = "The course itself"
    with steps.step(title) as busy:
        command = [*uv, "--no-deps", "--no-build-isolation", "--reinstall-package", "pytree-course"]
        status, output = run_installer(
            [*command, "--editable", environment.root],
            environment=variables,
            folder=environment.root,
            busy=busy,
        )
        if status != 0:
            raise failed(title, output, environment)
    environment.write_state(environment.digest())
    say(f"Ready after {time.monotonic() - steps.began:.0f} s. Later starts do without this.\n")


def create_empty(environment: Environment) -> None:
    """Create the virtual environment, without pip: uv does what pip would do."""
    try:
        import venv
    except ImportError:
        raise LauncherError(
            f"This Python lacks the module venv, which makes environments.\n{DEBIAN_HINT}"
        ) from None
    try:
        venv.create(environment.path, with_pip=False, symlinks=os.name != "nt")
    except ValueError as error:
        # For example a ":" in the path.
        raise LauncherError(
            f"No environment can be made here: {error}.\nMove the course to another folder."
        ) from None


def install_uv(
    environment: Environment,
    variables: Mapping[str, str],
    title: str,
    busy: Callable[[str], None],
) -> list[str | Path] | None:
    """Install uv in the environment and return the pip that did it, None if it was there."""
    wanted = environment.uv_wanted()
    status, output = run_installer(
        [environment.python, "-m", "uv", "--version"],
        environment=variables,
        folder=environment.root,
    )
    if status == 0 and output.split()[:2] == wanted.split("=="):
        return outer_pip(variables)

    # pip's configuration file may say "user = true", which a variable overrules.
    variables = {
        **variables,
        "PIP_USER": "0",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    outer = outer_pip(variables)
    attempts: list[list[str | Path]] = []
    if outer:
        attempts.append([*outer, "--python", environment.python])
    inner: list[str | Path] = [environment.python, "-m", "pip"]
    attempts.append(inner)
    said = ""
    for pip in attempts:
        if pip is inner:
            status, output = run_installer(
                [environment.python, "-m", "ensurepip"],
                environment=variables,
                folder=environment.root,
                busy=busy,
            )
            if status != 0:
                break
        status, output = run_installer(
            [*pip, "install", wanted], environment=variables, folder=environment.root, busy=busy
        )
        if status == 0:
            return pip
        said = output
        if "no such option" not in output.lower():
            # It could run and failed for a reason that another pip has as well.
            raise failed(title, output, environment)
    raise LauncherError(
        f"{said or output}\nThis Python has no pip (22.3 or newer), nor the means to install one "
        f"(ensurepip).\n{DEBIAN_HINT}\nElsewhere: python3 -m ensurepip --upgrade"
    )


def outer_pip(variables: Mapping[str, str]) -> list[str | Path] | None:
    """Return the pip of the Python that runs this, if it has one."""
    pip: list[str | Path] = [sys.executable, "-m", "pip"]
    status, _ = run_installer([*pip, "--version"], environment=variables, folder=ROOT)
    return pip if status == 0 else None


# --- one run at a time ---------------------------------------------------------------------


@contextlib.contextmanager
def alone(environment: Environment) -> Iterator[None]:
    """Wait until no other run is making this environment; the system ends a dead one's turn."""
    try:
        file = open(environment.root / ".venv-lock", "a+b")  # noqa: SIM115
    except OSError as error:
        raise LauncherError(
            f"The course's folder can't be written: {error}.\nCopy the course to a folder of "
            "your own and start it there."
        ) from None
    with file:
        TURN[:] = [file.fileno()] if os.name == "posix" else []
        told = False
        while not try_lock(file.fileno()):
            if not told:
                say("Another run of course.py is making the environment: waiting for it.")
                told = True
            time.sleep(0.2)
        try:
            yield
        finally:
            TURN.clear()


def try_lock(descriptor: int) -> bool:
    """Lock an open file; return False if another process has it locked."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # Some network drives can't lock: better without than not at all.
            pass
    return True


# --- running a command -----------------------------------------------------------------------


def run_command(environment: Environment, arguments: Sequence[str]) -> int:
    """Run the course's command line in its environment and return its exit status."""
    # -P: a learner's file named jax.py in the current folder must not be imported instead.
    command = [str(environment.python), "-P", "-m", "pytree_course", *arguments]
    variables = child_environment(activated=environment)
    if environment.root not in [Path.cwd(), *Path.cwd().parents]:
        variables["PYTREE_COURSE"] = str(environment.root)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        try:
            os.execve(command[0], command, variables)
        except OSError as error:
            raise LauncherError(f"The environment's Python does not start: {error}") from None
    return wait_for(command, variables)


def wait_for(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a child to its end. Ctrl-C reaches it as well, and how to end is its choice."""
    # Not an exception caught around the wait: it may come when the child's status has just been
    # taken, which is then lost. And not ignored, for that would pass on to the child.
    before = signal.signal(signal.SIGINT, _leave_it_to_the_child)
    try:
        return subprocess.Popen(list(command), env=dict(variables)).wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _leave_it_to_the_child(signum: int, frame: FrameType | None) -> None:
    pass


def say(text: str) -> None:
    """Tell the person at the keyboard something, apart from a command's own output."""
    print(text, file=sys.stderr, flush=True)


def help_text() -> str:
    """Return the help for someone who sees this for the first time."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}   {text}" for name, text in COMMANDS.items()]
    return HELP.format(commands="\n".join(lines))


def stop(signum: int, frame: FrameType | None) -> None:
    """End like Ctrl-C does when the system asks for it, so that no installer is left behind."""
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Run `course.py` with these arguments and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    environment = Environment()
    asks_for_help = any(argument in {"-h", "--help"} for argument in arguments)
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(help_text())
        return 0
    if arguments[0] not in COMMANDS:
        near = difflib.get_close_matches(arguments[0], COMMANDS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        say(f"course.py has no command {arguments[0]!r}.{hint}\n\n{help_text()}")
        return 2
    if asks_for_help and not environment.is_ready():
        # Not worth a download of that size.
        print(help_text())
        return 0
    try:
        signal.signal(signal.SIGTERM, stop)
        prepare(environment)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return run_command(environment, arguments)
    except LauncherError as error:
        say(f"\n{error}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Finished downloads are kept: run the same command to go on.")
        return 130
