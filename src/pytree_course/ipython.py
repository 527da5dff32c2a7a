"""The IPython extension of the course's kernels: it prepares them, and explains errors.

Every kernel loads it, on a hub those of other notebooks too. So it imports nothing large before
that is needed.
"""

import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any

from IPython.display import display

from pytree_course import nbgrader
from pytree_course.built import brief_traceback
from pytree_course.course import Course, CourseError
from pytree_course.executed_cells import CHECK_CALL, is_meant_by_lesson, record_definitions

CLASS_NAMES = ("join", "leave", "vote")
"""Functions that learners' notebooks can call without an import."""


def load_ipython_extension(shell: Any) -> None:
    """Prepare a kernel in the course's folder; on a hub, kernels of other notebooks load this, too.

    A notebook of the course that lies elsewhere is known by its set-up cell, which makes `Checks`.
    """
    with suppress(CourseError):
        Course.above()
        prepare(shell)


@cache  # once for a shell: the extension and each `Checks` call it
def prepare(shell: Any) -> None:
    """Record what cells define, explain errors, and let the learner take part in a class."""
    shell.showtraceback = partial(_show_printable, shell.showtraceback)
    if nbgrader.is_running():
        return  # it gives the points unless a check raises: no note may replace the error
    record_definitions(shell)
    shell.set_custom_exc((Exception,), _show_error)
    joined_file = Course.of_notebook().joined_file
    if joined_file is None:
        return  # a build: there is no learner
    shell.events.register("pre_run_cell", partial(_keep_sending_verdicts, joined_file))
    functions = {name: partial(_call, name) for name in CLASS_NAMES}
    shell.push(functions, interactive=False)


def _keep_sending_verdicts(joined_file: Path, _: Any) -> None:
    """Before a cell runs: start sending to the class, if there is one and it has not begun."""
    if joined_file.exists():
        from pytree_course.notebook.joining import take_part

        take_part(joined_file)


def _call(name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of `joining`, imported only now: most learners never join a class."""
    from pytree_course.notebook import joining

    return getattr(joining, name)(*arguments, **keywords)


def _show_printable(show: Any, raised: Any = None, **options: Any) -> None:
    """Show an error with the shell's own `show`, once its message can be made."""
    _, error, _ = raised or sys.exc_info()
    if error is not None:
        _make_printable(error)
    show(raised, **options)


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
    if isinstance(error, NameError) and CHECK_CALL.search(source):
        from pytree_course.notebook.missing import explain_missing_name

        advice = explain_missing_name(error, trace, source)
    if advice is not None:
        display(advice)
    elif is_meant_by_lesson(source):
        shell._showtraceback(kind, error, brief_traceback(kind.__name__, str(error)))
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)
