"""What a check lacks because a cell has not run, and what a right answer lacks in grading."""

import ast
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from itertools import takewhile
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

from IPython.core.inputtransformer2 import TransformerManager

from pytree_course.built import answer_id
from pytree_course.course import LessonFiles
from pytree_course.executed_cells import (
    CHECK_CALL,
    ExecutedCell,
    defining_cells,
    is_any_stale,
    names_defined_by,
)
from pytree_course.judging import words
from pytree_course.judging.expected import ExerciseFacts
from pytree_course.judging.feedback import note
from pytree_course.rendering import Feedback
from pytree_course.sources.needed_code import names_of

# --- here


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


# --- in grading


def missing_in_grading(
    files: LessonFiles, graded: Mapping[str, ExerciseFacts], exercise: ExerciseFacts
) -> list[str]:
    """Return a warning if an answer that is right here would not be right in grading.

    Grading runs the notebook as it was handed out, with the answers in their cells. Here, the
    last definition counts; its cell is known if the front end sends the notebook's ids.
    """
    answers = defining_cells(exercise.answers)
    cells = [cell for cell in json.loads(files.read_blank())["cells"] if "outputs" in cell]
    ids = {cell["id"] for cell in cells}
    sends_ids = any(cell.id in ids for cell in defining_cells(["check"]))
    if sends_ids and {cell.id for cell in answers} != {answer_id(exercise.name)}:
        return [words.IN_ANOTHER_CELL]

    above = list(takewhile(lambda cell: cell["id"] != answer_id(exercise.name), cells))
    ids_above = {cell["id"] for cell in above}
    earlier: list[ExecutedCell] = []
    for name, earlier_exercise in graded.items():
        if answer_id(name) in ids_above:
            earlier += defining_cells(earlier_exercise.answers)
    sources_above = ["".join(cell["source"]) for cell in above]
    sources = sources_above + [cell.source for cell in [*earlier, *answers]]
    defined = {name for source in sources for name in _names(source)[0]}
    used = {name for cell in answers for name in _names(cell.source)[1]}
    for name in sorted(used - defined):
        # A name that none of these cells shows may still be theirs, by an `import *`.
        if not set(defining_cells([name])).issubset([*earlier, *answers]):
            return [words.FROM_ANOTHER_CELL.format(name=name)]

    lock = files.root / "requirements.txt"
    if lock.exists():
        packages = lock.read_text(encoding="utf-8")
        for module in sorted(_imported_modules(cell.source for cell in answers)):
            if not _is_installed(module, packages):
                return [words.NOT_IN_GRADING.format(module=module)]
    return []


@cache  # from one check to the next, most cells are the same
def _names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell defines, and those that it reads before."""
    return names_of(_transform_magics(source))


def _transform_magics(source: str) -> str:
    """Return a cell's source with its magics as the calls that IPython makes of them."""
    without_first_line = re.sub(r"\A\s*%%.*", "", source)  # such as `%%time`
    return TransformerManager().transform_cell(without_first_line)


def _imported_modules(sources: Iterable[str]) -> set[str]:
    """Return the top-level modules and packages that cells import anywhere."""
    modules: list[str] = []
    for source in sources:
        for node in ast.walk(ast.parse(_transform_magics(source))):
            if isinstance(node, ast.Import):
                modules += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules.append(node.module or "")
    return {module.partition(".")[0] for module in modules}


def _is_installed(module: str, packages: str) -> bool:
    """Return whether a module is Python's or in one of the packages of the course."""
    if module in sys.stdlib_module_names or module == "pytree_course":
        return True
    listed = {_canonical(name) for name in re.findall(r"^[\w.-]+", packages, re.M)}
    if _canonical(module) in listed:
        return True
    # Last, because it is slow: a package may have modules of other names.
    return not listed.isdisjoint(map(_canonical, _packages().get(module, ())))


_packages = cache(packages_distributions)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
