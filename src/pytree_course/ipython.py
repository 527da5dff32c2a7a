"""An IPython extension: errors that a learner meets say what to do, or what the lesson says.

An error whose message raises is shown like any other. Every kernel of the environment loads it (see
the folder `jupyter` of the repository), so it imports the rest of the package only when there is
something to say.
"""

import re
import sys
from types import TracebackType
from typing import Any

from pytree_course import nbgrader
from pytree_course.course import answer_id

_CHECK_CALL = re.compile(r"\bcheck\.(?P<exercise>\w+)\s*\(")


def load_ipython_extension(shell: Any) -> None:
    """Explain a NameError in a check cell; show briefly what a lesson raises on purpose.

    Every other error is shown as ever, whatever its message does. It is noted which cells fail, for
    the checks.
    """
    run_code, show = shell.run_code, shell.showtraceback

    async def run_code_and_reply(code: Any, result: Any = None, **how: Any) -> bool:
        has_raised: bool = await run_code(code, result, **how)
        if result is not None and result.error_in_exec is not None:
            result.error_in_exec = _showable(result.error_in_exec)
        return has_raised

    def show_always(raised: Any = None, **how: Any) -> None:
        _, error, trace = raised or sys.exc_info()
        error = error and _showable(error)
        show((type(error), error, trace), **how)

    shell.run_code, shell.showtraceback = run_code_and_reply, show_always
    if nbgrader.is_running():
        return  # an error that is explained instead of raised would earn points
    from pytree_course.checking import cell_runs

    cell_runs.watch(shell)
    shell.set_custom_exc((Exception,), _show)


def missing_cell(error: NameError, source: str) -> str | None:
    """Say which cell to run first, when a check cell's source fails for want of a name.

    Returns None when the cell is not a check, or the missing name has another cause.
    """
    call = _CHECK_CALL.search(source)
    if call is None or error.name is None:
        return None
    from pytree_course.checking import cell_runs, words

    if error.name in ("check", "Checks"):
        return words.SET_UP_CELL_FIRST
    if not re.search(rf"\b{re.escape(error.name)}\b", source[call.end() :]):
        return None
    exercise = call["exercise"]
    if defined := cell_runs.defined_by(answer_id(exercise)):
        names = ", ".join(f"`{name}`" for name in defined)
        return words.ANOTHER_NAME.format(name=error.name, exercise=exercise, defined=names)
    return words.ANSWER_CELL_FIRST.format(name=error.name, exercise=exercise)


def _showable(error: BaseException) -> BaseException:
    """Return an error, or one like it where its text raises: the kernel would never reply."""
    try:
        str(error)
    except BaseException as broken:
        kind = type(error).__name__
        return type(kind, (Exception,), {})(f"(its message raised {type(broken).__name__})")
    return error


def _show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    sources = shell.history_manager.input_hist_raw
    source = sources[-1] if sources else ""
    in_the_cell_itself = trace is None or trace.tb_next is None or trace.tb_next.tb_next is None
    if isinstance(error, NameError) and in_the_cell_itself:
        message = missing_cell(error, source)
        if message is not None:
            from IPython.display import display

            from pytree_course.checking import words
            from pytree_course.checking.feedback import note

            display(note("→", words.TOO_EARLY_TITLE, [message]))
            return
    if _is_meant(source):
        from pytree_course.built import brief_traceback

        shell._showtraceback(kind, error, brief_traceback(kind.__name__, str(error)))
        return
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)


def _is_meant(source: str) -> bool:
    """Say whether a lesson raises this cell's error on purpose; the learner has not changed it."""
    try:
        from pytree_course.built import is_meant_to_fail
        from pytree_course.course import Course

        return is_meant_to_fail(source, Course.find().root / "notebooks")
    except Exception:
        return False  # there is no course here: whatever raised, is shown as ever
