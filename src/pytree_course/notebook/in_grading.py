"""Warn before handing in: what a right answer uses that grading will not have."""

import ast
import json
import re
import symtable
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from itertools import takewhile

from IPython.core.inputtransformer2 import TransformerManager

from pytree_course.course import LessonFiles, answer_id
from pytree_course.ipython import last_runs
from pytree_course.judging import words
from pytree_course.judging.expected import ExerciseFacts


def warnings(
    files: LessonFiles, graded: Mapping[str, ExerciseFacts], exercise: ExerciseFacts
) -> list[str]:
    """Say why an answer that is right here would not be so in grading.

    Grading runs the notebook as it was handed out, with the answers in their cells. Here, what
    counts is what ran last; its cell is known if the front end sends the notebook's ids.
    """
    own_cell = answer_id(exercise.name)
    cells = [cell for cell in json.loads(files.read_blank())["cells"] if "outputs" in cell]
    runs = last_runs(exercise.answers)
    has_our_ids = {run.id for run in last_runs(["check"])} & {cell["id"] for cell in cells}
    if has_our_ids and {run.id for run in runs} != {own_cell}:
        return [words.IN_ANOTHER_CELL.format(exercise=exercise.name)]

    above = {
        cell["id"]: "".join(cell["source"])
        for cell in takewhile(lambda cell: cell["id"] != own_cell, cells)
    }
    earlier = [facts for name, facts in graded.items() if answer_id(name) in above]
    there = [*runs, *(run for facts in earlier for run in last_runs(facts.answers))]
    defined, used, modules = set[str](), set[str](), set[str]()
    for source in (*above.values(), *(run.source for run in there)):
        defined |= _names(_python(source))[0]
    for run in runs:
        used |= _names(_python(run.source))[1]
        modules |= _imported(_python(run.source))
    for name in sorted(used - defined):
        if not {*last_runs([name])} <= {*there}:
            return [words.FROM_ANOTHER_CELL.format(name=name, exercise=exercise.name)]

    lock = files.root / "requirements.txt"
    packages = lock.read_text(encoding="utf-8") if lock.exists() else None
    for module in sorted(modules):
        if packages and not _is_there(module, packages):
            return [words.NOT_IN_GRADING.format(module=module)]
    return []


def _python(source: str) -> str:
    """Return a cell's source with its magics as the calls that IPython makes of them."""
    without_first_line = re.sub(r"\A\s*%%.*", "", source)  # such as `%%time`
    return TransformerManager().transform_cell(without_first_line)


def _names(code: str) -> tuple[set[str], set[str]]:
    """Return the global names that code defines, and those that it uses and does not define."""
    tables, defined, used = [symtable.symtable(code, "<cell>", "exec")], set(), set()
    for table in tables:
        tables += table.get_children()
        for symbol in filter(symtable.Symbol.is_global, table.get_symbols()):
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                defined.add(symbol.get_name())
            elif symbol.is_referenced():
                used.add(symbol.get_name())
    return defined, used - defined


def _imported(code: str) -> set[str]:
    """Return the modules and packages that code imports, wherever in it."""
    modules = set[str]()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    return modules


def _is_there(module: str, packages: str) -> bool:
    """Return whether a module is Python's or in one of the packages of the course."""
    if module in sys.stdlib_module_names or module == "pytree_course":
        return True
    listed = {_canonical(name) for name in re.findall(r"^[\w.-]+", packages, re.M)}
    # The second takes long, and is needed where a package and its module differ in name.
    return _canonical(module) in listed or any(
        _canonical(package) in listed for package in _packages().get(module, ())
    )


_packages = cache(packages_distributions)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
