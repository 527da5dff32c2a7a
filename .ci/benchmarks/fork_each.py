"""Run scripts, each in a fork of this process, which has imported what they import.

python .ci/benchmarks/fork_each.py AT_ONCE CHECK_SCRIPT SCRIPT...

No sandbox, no Jupyter, no judge outside: a limit for what has them. A script keeps
the learner's progress in its own folder.
"""

import ast
import importlib
import os
import sys
import threading
import traceback
from pathlib import Path

from pytree_course.course import PROGRESS_VARIABLE


def main() -> None:
    at_once, check_script = int(sys.argv[1]), Path(sys.argv[2])
    scripts = [Path(name) for name in sys.argv[3:]]
    for file in (check_script, scripts[0]):
        import_what_is_imported_in(file)
    running: set[int] = set()
    failed = 0
    for script in scripts:
        if len(running) == at_once:
            failed += await_one(running)
        running.add(start(script))
    while running:
        failed += await_one(running)
    sys.exit(1 if failed else 0)


def import_what_is_imported_in(file: Path) -> None:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                importlib.import_module(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            importlib.import_module(node.module)


def start(script: Path) -> int:
    """Run a script in a fork, and return its process id."""
    refuse_to_fork_unsafely()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.environ[PROGRESS_VARIABLE] = str(script.parent)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        exec(compile(script.read_text(encoding="utf-8"), script, "exec"), {"__name__": "__main__"})
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


def refuse_to_fork_unsafely() -> None:
    """JAX hangs in a fork of a process with threads, or in which it has computed."""
    import jax

    if threading.active_count() > 1 or jax._src.xla_bridge._backends:
        raise RuntimeError("this process has threads, or JAX has computed in it")


def await_one(running: set[int]) -> bool:
    """Wait for one of the forks to end, and say whether it failed."""
    child, status = os.wait()
    running.discard(child)
    return status != 0


if __name__ == "__main__":
    main()
