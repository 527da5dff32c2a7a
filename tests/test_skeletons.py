"""The last hint of a core exercise is its solution, with `...` for what decides."""

import ast
import re

import pytest

from pytree_course.course import Course
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT
from tests.lesson_reads import each_of

FENCED = re.compile(r"\s*```python\n(.*\.\.\..*)```\s*", re.DOTALL)


def is_skeleton(hint: str, solution: str) -> bool:
    """Say whether a hint is a solution's code, in which `...` stands for some of it.

    It may stand for an expression, or for one or more statements.
    """
    fenced = FENCED.fullmatch(hint)
    if fenced is None:
        return False
    try:
        skeleton = _plain(fenced[1]).split("\n")
    except SyntaxError:
        return False
    lines = [
        "(?s:.+)" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".+")
        for line in skeleton
    ]
    return re.fullmatch("\n".join(lines), _plain(solution)) is not None


def _plain(code: str) -> str:
    """Write code without comments and docstrings, all in one style."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            del node.body[0]
    return ast.unparse(tree)


SOLUTION = '''\
def step(params, grads):
    """Return new parameters."""
    rate = 0.1  # small
    moved = jax.tree.map(lambda p, g: p - rate * g, params, grads)
    return moved
'''


def hint(code: str) -> str:
    return f"```python\ndef step(params, grads):\n{code}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        "Use `jax.tree.map(...)`.",
        hint("    rate = 0.1\n    return jax.tree.map(lambda p, g: ..., params, grads)"),
        hint("    ...\n    return moved\n    return rate"),
        hint("    return (..."),
        f"```python\n{SOLUTION}```",
        f"```python\n{SOLUTION}\n...\n```",
    ],
)
def test_anything_else_is_none(text):
    assert not is_skeleton(text, SOLUTION)


@each_of(Course(ROOT).lessons())
def test_each_core_exercise_ends_its_hints_with_one(files):
    for exercise in read_sources(files).graded.values():
        if exercise.core and not exercise.is_prediction:
            assert is_skeleton(exercise.hints[-1], exercise.solution.source), exercise.name
