"""The IPython extension of the course's kernels: it prepares them, and explains errors."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

from pytree_course import nbgrader
from pytree_course.built import answer_id, brief_traceback
from pytree_course.course import Course, CourseError
from pytree_course.executed_cells import (
    CHECK_CALL,
    is_any_stale,
    is_meant_by_lesson,
    names_defined_by,
    record_definitions,
)

CLASS_NAMES = ("join", "leave", "vote")
"""Functions that learners' notebooks can call without an import."""


def load_ipython_extension(shell: Any) -> None:
    """Prepare a kernel in the course's folder; on a hub, kernels of other notebooks load this, too.

    A notebook of the course that lies elsewhere is known by its set-up cell, which makes `Checks`.
    """
    with suppress(CourseError):
        Course.above()
        prepare(shell)


@cache
def prepare(shell: Any) -> None:
    """Record what cells define, explain errors, and keep sending verdicts to a joined class."""
    show = shell.showtraceback

    def show_printable(raised: Any = None, **options: Any) -> None:
        _, error, _ = raised or sys.exc_info()
        if error is not None:
            _make_printable(error)
        show(raised, **options)

    shell.showtraceback = show_printable
    if nbgrader.is_running():
        return  # it gives the points unless a check raises: no note may replace the error
    record_definitions(shell)
    shell.set_custom_exc((Exception,), _show_error)
    joined_file = Course.of_notebook().joined_file
    if joined_file is None:
        return  # a build: there is no learner

    def keep_sending_verdicts(_: Any) -> None:
        if joined_file.exists():
            from pytree_course.notebook.joining import take_part

            take_part(joined_file)

    shell.events.register("pre_run_cell", keep_sending_verdicts)
    functions = {name: _imported_when_called(name) for name in CLASS_NAMES}
    shell.push(functions, interactive=False)


def _imported_when_called(name: str) -> Callable[..., Any]:
    """Return a function for the learner's namespace that imports the real one when called."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        from pytree_course.notebook import joining

        return getattr(joining, name)(*arguments, **keywords)

    function.__name__ = name
    return function


def _make_printable(error: BaseException) -> None:
    """Replace the message of an error if making it raises; otherwise the kernel never replies."""
    try:
        str(error)
    except BaseException as failure:
        message = f"(its message raised {type(failure).__name__})"
        error.args = (message,)  # enough for built-in errors, whose type cannot be changed
        with suppress(TypeError):
            type(error).__str__ = lambda _: message  # type: ignore[method-assign]


def _show_error(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Explain a missing name in a check, and shorten an error that a lesson raises on purpose."""
    sources = shell.history_manager.input_hist_raw
    source = sources[-1] if sources else ""
    advice = None
    if isinstance(error, NameError) and error.name and _is_raised_by_cell_itself(trace):
        advice = _explain_missing_name(error.name, source)
    if advice is not None:
        from IPython.display import display

        from pytree_course.judging import words
        from pytree_course.judging.feedback import note

        display(note("→", words.TOO_EARLY_TITLE, [advice]))
    elif is_meant_by_lesson(source):
        shell._showtraceback(kind, error, brief_traceback(kind.__name__, str(error)))
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)


def _is_raised_by_cell_itself(trace: TracebackType | None) -> bool:
    """Return whether an error comes from a cell's own line, not from a function that it calls."""
    return len([*walk_tb(trace)]) <= 2  # a frame of IPython, and the cell's


def _explain_missing_name(name: str, source: str) -> str | None:
    """Return advice on a name that a check cell lacks; None if no cell that defines it is known."""
    call = CHECK_CALL.search(source)
    if call is None:
        return None
    from pytree_course.judging import words  # not above: it slows down each kernel's start

    if name in ("check", "Checks"):
        if not is_any_stale(["check"]):
            return words.SET_UP_CELL_FIRST
        file = _hiding_file()
        return words.PACKAGE_HIDDEN_BY_FILE.format(file=file) if file else words.SET_UP_FAILED
    if not re.search(rf"\b{re.escape(name)}\b", source[call.end() :]):
        return None
    if other_names := names_defined_by(answer_id(call["exercise"])):
        defined = ", ".join(f"`{other}`" for other in other_names)
        return words.ANOTHER_NAME.format(name=name, defined=defined)
    return words.ANSWER_CELL_FIRST.format(name=name)


def _hiding_file() -> Path | None:
    """Return a file beside the notebook that Python imports instead of a package: `jax.py`."""
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    files = sorted(Path().glob("*.py"))
    return next((file for file in files if PathFinder.find_spec(file.stem, elsewhere)), None)
