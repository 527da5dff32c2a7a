"""The IPython extension of every kernel: record what cells define, and explain their errors."""

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import pytree_course
from pytree_course import nbgrader
from pytree_course.built import answer_id, brief_traceback, is_meant_to_fail, our_version_id
from pytree_course.course import Course, CourseError
from pytree_course.texts import defined_names

CLASS_NAMES = ("join", "leave", "vote")
"""Functions that learners' notebooks can call without an import."""


def load_ipython_extension(shell: Any) -> None:
    """Record what cells define, explain errors, and keep sending verdicts to a joined class."""
    show = shell.showtraceback

    def show_always(raised: Any = None, **options: Any) -> None:
        _, error, _ = raised or sys.exc_info()
        if error is not None:
            _make_printable(error)
        show(raised, **options)

    shell.showtraceback = show_always
    if nbgrader.is_running():
        return  # an explanation in place of an error would earn points
    watch(shell)
    try:
        joined_file = Course.of_notebook().joined_file
    except CourseError:
        return  # outside the course's folder
    if joined_file is None:
        return  # a build: there is no learner

    def before_cell(_: Any) -> None:
        if joined_file.exists():
            from pytree_course.notebook.joining import take_part

            take_part(joined_file)

    shell.events.register("pre_run_cell", before_cell)
    shell.push({name: _imported_when_called(name) for name in CLASS_NAMES}, False)


def _imported_when_called(name: str) -> Callable[..., Any]:
    """Return a function for the learner's namespace that imports the real one when called."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        return getattr(pytree_course, name)(*arguments, **keywords)

    function.__name__ = name
    return function


def _make_printable(error: BaseException) -> None:
    """Replace the message of an error if making it raises; otherwise the kernel never replies."""
    try:
        str(error)
    except BaseException as failure:
        message = f"(its message raised {type(failure).__name__})"
        error.args = (message,)  # the message of a built-in error, whose type cannot be changed
        with suppress(TypeError):
            type(error).__str__ = lambda _: message  # type: ignore[method-assign]


CHECK_CALL = re.compile(r"\bcheck\.(?P<exercise>\w+)\s*\(")

_failed: set[str] = set()
"""Names whose definition is stale, because the last run of their cell failed."""


class CellRun(NamedTuple):
    """A run of a cell."""

    id: str | None  # if the front end sends ids
    source: str


_last_defined: dict[str, CellRun] = {}
"""The run that last defined a name, or imported it."""


def watch(shell: Any) -> None:
    """Start recording what each cell defines, and explaining errors."""
    before: dict[str, Any] = {}

    def before_cell(_: Any) -> None:
        before.update(shell.user_ns)

    def after_cell(result: Any) -> None:
        run = CellRun(getattr(result.info, "cell_id", None), result.info.raw_cell or "")
        names = defined_names(run.source)
        made = {
            name
            for name, value in shell.user_ns.items()
            if name not in before or value is not before[name]
        }
        before.clear()
        if result.success:
            _failed.difference_update(names)
        else:
            _failed.difference_update(made)
            _failed.update(names - made)
        _last_defined.update(dict.fromkeys(made, run))

    shell.events.register("pre_run_cell", before_cell)
    shell.events.register("post_run_cell", after_cell)
    shell.set_custom_exc((Exception,), _show)


def are_stale(names: Iterable[str]) -> bool:
    """Return whether one of these names is stale: the last run of its cell failed."""
    return not _failed.isdisjoint(names)


def are_ours(exercise: str, names: Iterable[str]) -> bool:
    """Return whether a lesson's own version of an exercise has replaced the reader's answer."""
    return any(run.id == our_version_id(exercise) for run in last_runs(names))


def last_runs(names: Iterable[str]) -> list[CellRun]:
    """Return the runs of cells that last defined these names, each once."""
    return list(dict.fromkeys(_last_defined[name] for name in names if name in _last_defined))


def missing_cell(error: NameError, source: str) -> str | None:
    """Return which cell to run first, when a name is missing in a check cell.

    Return None if the cell is not a check, or the missing name has another cause.
    """
    call = CHECK_CALL.search(source)
    if call is None or error.name is None:
        return None
    from pytree_course.judging import words  # not above: it slows down each kernel's start

    if error.name in ("check", "Checks"):
        if not are_stale(["check"]):
            return words.SET_UP_CELL_FIRST
        file = _hiding_file()
        return words.PACKAGE_HIDDEN_BY_FILE.format(file=file) if file else words.SET_UP_FAILED
    if not re.search(rf"\b{re.escape(error.name)}\b", source[call.end() :]):
        return None
    exercise = call["exercise"]
    defined = [
        f"`{name}`"
        for name, run in sorted(_last_defined.items())
        if run.id == answer_id(exercise) and name in defined_names(run.source)
    ]
    if defined:
        names = ", ".join(defined)
        return words.ANOTHER_NAME.format(name=error.name, exercise=exercise, defined=names)
    return words.ANSWER_CELL_FIRST.format(name=error.name, exercise=exercise)


def _hiding_file() -> Path | None:
    """Return a file beside the notebook that is imported in place of a package, as `jax.py` is."""
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    files = sorted(Path().glob("*.py"))
    return next((file for file in files if PathFinder.find_spec(file.stem, elsewhere)), None)


def _show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Explain a missing name in a check, and shorten an error that a lesson raises on purpose."""
    sources = shell.history_manager.input_hist_raw
    source = sources[-1] if sources else ""
    is_in_the_cell = trace is None or trace.tb_next is None or trace.tb_next.tb_next is None
    message = None
    if isinstance(error, NameError) and is_in_the_cell:
        message = missing_cell(error, source)
    if message is not None:
        from IPython.display import display

        from pytree_course.judging import words
        from pytree_course.judging.feedback import note

        display(note("→", words.TOO_EARLY_TITLE, [message]))
    elif is_meant(source):
        shell._showtraceback(kind, error, brief_traceback(kind.__name__, str(error)))
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)


def is_meant(source: str) -> bool:
    """Return whether a source is an unchanged cell of a lesson that raises an error on purpose."""
    try:
        return is_meant_to_fail(source, Course.of_notebook().root / "notebooks")
    except Exception:
        return False  # outside the course's folder, or its notebooks cannot be read
