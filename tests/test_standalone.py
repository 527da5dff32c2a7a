"""A prediction's code, with the lines that define what it uses."""

import ast
import contextlib
import io
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from pytree_course.built import hides_outputs, show_outputs
from pytree_course.course import Course
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.predictions import MOST_LINES, standing_alone
from tests.conftest import ROOT
from tests.lesson_reads import each_of

IMPORTS = "import jax"
IMPORT = (ast.Import, ast.ImportFrom)
ALIKE = 40  # characters of an output that are compared: pictures and addresses come later


@pytest.mark.parametrize(
    ("above", "code", "added"),
    [
        ([], "len([1])", ""),
        (["tree = [1]"], "len(tree)", "tree = [1]\n"),
        (["tree = [1]", "tree = [2]"], "len(tree)", "tree = [2]\n"),
        (["n = 1\nother = 3", "tree = [n]"], "len(tree)", "n = 1\ntree = [n]\n"),
        (["tree = {}", "tree['w'] = 1"], "len(tree)", "tree = {}\ntree['w'] = 1\n"),
        (["t = 1", "t = t + 1"], "print(t)", "t = 1\nt = t + 1\n"),
        (["@jax.jit\ndef f(x):\n    return x"], "f(1)", "@jax.jit\ndef f(x):\n    return x\n"),
        (["x = 1"], "for _ in range(2):\n    x = jax.numpy.sin(x)", "x = 1\n"),
        (["i = 5"], "[i for i in range(3)]", ""),
    ],
)
def test_the_definitions_of_its_names_come_first(above, code, added):
    assert standing_alone(code, "", [IMPORTS, *above]) == added + code


def test_a_name_in_the_question_is_defined_too_but_not_in_too_many_lines():
    assert standing_alone("print(1)", "What is `len(g)`?", ["g = [1]"]) == "g = [1]\nprint(1)"
    for above in ([], ["g = [\n" + "    1,\n" * MOST_LINES + "]"]):
        assert standing_alone("len(g)", "", above) is None


def run_alone(imports: str, code: str) -> str:
    """Run a cell's code after imports alone; return what it prints, and its value or error."""
    names: dict[str, Any] = {}
    exec(imports, names)
    *statements, last = ast.parse(code).body
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            exec(compile(ast.Interactive([last]), "cell", "single"), names)  # shows its value
        except Exception as error:
            print(type(error).__name__)
    return "".join(shown.getvalue().split())


def built_output(cell: NotebookNode) -> str:
    """Return what a built cell printed, and its value or the type of its error."""
    if hides_outputs(cell):
        show_outputs(cell)
    texts = [
        each.get("text") or each.get("data", {}).get("text/plain") or each.get("ename", "")
        for each in cell.outputs
    ]
    return "".join("".join(texts).split())


@pytest.mark.slow
@each_of(Course(ROOT).lessons())
def test_a_question_shows_all_that_its_code_needs(files):
    predictions = read_sources(files).predictions
    for file in files.notebooks():
        imports: list[str] = []
        for cell in nbformat.read(file, as_version=4).cells:
            if cell.id in predictions and (code := predictions[cell.id].alone) is not None:
                shown = run_alone("\n".join(imports), code)
                assert shown[:ALIKE] == built_output(cell)[:ALIKE], f"{cell.id}: {code}"
            elif cell.cell_type == "code" and not cell.source.startswith("%"):
                nodes = ast.parse(cell.source).body
                imports += [ast.unparse(each) for each in nodes if isinstance(each, IMPORT)]
