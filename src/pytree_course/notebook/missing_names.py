"""Explain a name that a check cell lacks: which cell has to run first."""

import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

from pytree_course.built import answer_id
from pytree_course.executed_cells import CHECK_CALL, is_any_stale, names_defined_by
from pytree_course.judging import words
from pytree_course.judging.feedback import note
from pytree_course.rendering import Feedback


def explain_missing_name(
    error: NameError, trace: TracebackType | None, source: str
) -> Feedback | None:
    """Return advice on the name that a cell lacks; None unless its check call uses the name."""
    call = CHECK_CALL.search(source)
    is_raised_by_cell_itself = len([*walk_tb(trace)]) <= 2  # a frame of IPython, and the cell's
    if call is None or not error.name or not is_raised_by_cell_itself:
        return None
    if error.name in ("check", "Checks"):
        advice = _explain_missing_set_up()
    elif re.search(rf"\b{re.escape(error.name)}\b", source[call.end() :]):
        advice = _explain_missing_answer(error.name, call["exercise"])
    else:
        return None
    return note("→", words.TOO_EARLY_TITLE, [advice])


def _explain_missing_set_up() -> str:
    if not is_any_stale(["check"]):
        return words.SET_UP_CELL_FIRST
    file = _hiding_file()
    return words.PACKAGE_HIDDEN_BY_FILE.format(file=file) if file else words.SET_UP_FAILED


def _hiding_file() -> Path | None:
    """Return a file beside the notebook that Python imports instead of a package: `jax.py`."""
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != Path.cwd()]
    files = sorted(Path().glob("*.py"))
    return next((file for file in files if PathFinder.find_spec(file.stem, elsewhere)), None)


def _explain_missing_answer(name: str, exercise: str) -> str:
    if other_names := names_defined_by(answer_id(exercise)):
        defined = ", ".join(f"`{other}`" for other in other_names)
        return words.ANOTHER_NAME.format(name=name, defined=defined)
    return words.ANSWER_CELL_FIRST.format(name=name)
