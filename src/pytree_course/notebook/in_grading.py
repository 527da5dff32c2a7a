"""Warn before handing in if a right answer depends on something that grading lacks."""

import ast
import json
import re
import symtable
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from itertools import takewhile

from IPython.core.inputtransformer2 import TransformerManager

from pytree_course.built import answer_id
from pytree_course.course import LessonFiles
from pytree_course.ipython import ExecutedCell, defining_cells
from pytree_course.judging import words
from pytree_course.judging.expected import ExerciseFacts


def warnings(
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
    defined, _ = _names(sources_above + [cell.source for cell in [*earlier, *answers]])
    _, used = _names(cell.source for cell in answers)
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


def _transform_magics(source: str) -> str:
    """Return a cell's source with its magics as the calls that IPython makes of them."""
    without_first_line = re.sub(r"\A\s*%%.*", "", source)  # such as `%%time`
    return TransformerManager().transform_cell(without_first_line)


def _names(sources: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the global names that cells define, and those that they use."""
    tables = [symtable.symtable(_transform_magics(source), "<cell>", "exec") for source in sources]
    defined, used = set(), set()
    for table in tables:
        tables += table.get_children()
        for symbol in filter(symtable.Symbol.is_global, table.get_symbols()):
            used.add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                defined.add(symbol.get_name())
    return defined, used


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
