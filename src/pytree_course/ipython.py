"""An IPython extension: errors that a learner meets say what to do, or what the lesson says.

Every kernel of the environment loads it (see the folder `jupyter` of the repository).
"""

import sys
from contextlib import suppress
from typing import Any

from pytree_course import nbgrader


def load_ipython_extension(shell: Any) -> None:
    """Let the checks know what cells do, and explain errors; one whose text raises is shown too."""
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
    from pytree_course.notebook import cell_runs

    cell_runs.watch(shell)
    from pytree_course.course import Course, CourseError

    def before_cell(_: Any) -> None:
        if joined and joined.exists():
            from pytree_course.notebook.joining import go_on

            go_on(joined)

    with suppress(CourseError):  # there may be no course here
        joined = Course.find().joined_file
        shell.events.register("pre_run_cell", before_cell)


def _showable(error: BaseException) -> BaseException:
    """Return an error, or one like it where its text raises: the kernel would never reply."""
    try:
        str(error)
    except BaseException as broken:
        kind = type(error).__name__
        return type(kind, (Exception,), {})(f"(its message raised {type(broken).__name__})")
    return error
