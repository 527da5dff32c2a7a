"""An IPython extension: a check that is run too early says which cell to run first.

An error whose message raises is shown like any other. Every kernel of the environment loads it (see
the folder `jupyter` of the repository), so it imports the rest of the package only when there is
something to say.
"""

import re
import sys
from types import TracebackType
from typing import Any

from pytree_course import nbgrader

_CHECK_CALL = re.compile(r"\bcheck\.(?P<exercise>\w+)\s*\(")


def load_ipython_extension(shell: Any) -> None:
    """Explain a NameError in a check cell; show every other error, whatever its message does."""
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
    shell.set_custom_exc((NameError,), _explain)


def missing_cell(error: NameError, source: str) -> str | None:
    """Say which cell to run first, when a check cell's source fails for want of a name.

    Returns None when the cell is not a check, or the missing name has another cause.
    """
    call = _CHECK_CALL.search(source)
    if call is None or error.name is None:
        return None
    from pytree_course.checking import words

    if error.name in ("check", "Checks"):
        return words.SET_UP_CELL_FIRST
    if re.search(rf"\b{re.escape(error.name)}\b", source[call.end() :]):
        return words.ANSWER_CELL_FIRST.format(name=error.name, exercise=call["exercise"])
    return None


def _showable(error: BaseException) -> BaseException:
    """Return an error, or one like it where its text raises: the kernel would never reply."""
    try:
        str(error)
    except BaseException as broken:
        kind = type(error).__name__
        return type(kind, (Exception,), {})(f"(its message raised {type(broken).__name__})")
    return error


def _explain(
    shell: Any,
    kind: type[BaseException],
    error: NameError,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    in_the_cell_itself = trace is None or trace.tb_next is None or trace.tb_next.tb_next is None
    source = shell.user_ns.get("In", [""])[-1]
    message = missing_cell(error, source) if in_the_cell_itself else None
    if message is None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    from IPython.display import display

    from pytree_course.checking import words
    from pytree_course.checking.feedback import note

    display(note("→", words.TOO_EARLY_TITLE, [message]))
