"""The IPython extension of the course's kernels: what cells define, and explained errors."""

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any, NamedTuple

import pytree_course
from pytree_course import nbgrader
from pytree_course.built import answer_id, brief_traceback, is_meant_to_fail, our_version_id
from pytree_course.course import Course, CourseError
from pytree_course.texts import defined_names

CLASS_NAMES = ("join", "leave", "vote")
"""Functions that learners' notebooks can call without an import."""

CHECK_CALL = re.compile(r"\bcheck\.(?P<exercise>\w+)\s*\(")


class ExecutedCell(NamedTuple):
    """A cell that was run."""

    id: str | None  # if the front end sends ids
    source: str


_defining_cells: dict[str, ExecutedCell] = {}
"""The cell that last defined a name, or imported it."""

_stale_names: set[str] = set()
"""Names that have kept an earlier value, because the last run of their cell failed."""


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
    _record_definitions(shell)
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
        return getattr(pytree_course, name)(*arguments, **keywords)

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


# --- which cell defined a name


def _record_definitions(shell: Any) -> None:
    """Start recording which cells define names, and which names are stale."""
    before: dict[str, Any] = {}

    def remember_values(_: Any) -> None:
        before.update(shell.user_ns)

    def record(result: Any) -> None:
        cell = ExecutedCell(getattr(result.info, "cell_id", None), result.info.raw_cell or "")
        in_source = defined_names(cell.source)
        changed = {
            name
            for name, value in shell.user_ns.items()
            if name not in before or value is not before[name]
        }
        before.clear()
        if result.success:
            _stale_names.difference_update(in_source)
        else:  # it may have defined some of its names before it failed
            _stale_names.difference_update(changed)
            _stale_names.update(in_source - changed)
        _defining_cells.update(dict.fromkeys(changed, cell))

    shell.events.register("pre_run_cell", remember_values)
    shell.events.register("post_run_cell", record)


def is_any_stale(names: Iterable[str]) -> bool:
    """Return whether one of these names is stale: the last run of its cell failed."""
    return not _stale_names.isdisjoint(names)


def is_our_version(exercise: str, names: Iterable[str]) -> bool:
    """Return whether a lesson's own version of an exercise has replaced the reader's answer."""
    return any(cell.id == our_version_id(exercise) for cell in defining_cells(names))


def defining_cells(names: Iterable[str]) -> list[ExecutedCell]:
    """Return the cells that last defined these names, each once."""
    return list(dict.fromkeys(_defining_cells[name] for name in names if name in _defining_cells))


# --- explaining errors


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
    exercise = call["exercise"]
    other_names = [
        f"`{other}`"
        for other, cell in sorted(_defining_cells.items())
        if cell.id == answer_id(exercise) and other in defined_names(cell.source)
    ]
    if other_names:
        defined = ", ".join(other_names)
        return words.ANOTHER_NAME.format(name=name, defined=defined)
    return words.ANSWER_CELL_FIRST.format(name=name)


def _hiding_file() -> Path | None:
    """Return a file beside the notebook that Python imports instead of a package: `jax.py`."""
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    files = sorted(Path().glob("*.py"))
    return next((file for file in files if PathFinder.find_spec(file.stem, elsewhere)), None)


def is_meant_by_lesson(source: str) -> bool:
    """Return whether a source is an unchanged cell of a lesson that raises an error on purpose."""
    try:
        return is_meant_to_fail(source, Course.of_notebook().root / "notebooks")
    except Exception:
        return False  # no course here, or a damaged notebook: the error must still be shown
