"""The examples in a starter's docstrings: each call in them has to be a case of the check."""

import ast
import contextlib
import doctest
import io
import json
import tempfile
from collections.abc import Iterator
from functools import wraps
from typing import Any

import jax

from pytree_course.authoring.authors_answers import as_graded, define, run_cells
from pytree_course.authoring.source_cells import Mistake
from pytree_course.authoring.sources import Exercise, LessonSources
from pytree_course.checking.outcomes import run_check
from pytree_course.checking.reported import PUBLIC_SEED
from pytree_course.trees import observe

FILE = ".npz"  # what the name of a file ends with; the name itself is the check's own


def find_wrong_examples(sources: LessonSources, exercise: Exercise) -> Iterator[Mistake]:
    """Find the examples of an answer cell that call an answer as the check never does."""
    tried: list[str] = []
    called: list[str] = []
    with as_graded(sources, PUBLIC_SEED), tempfile.TemporaryDirectory() as folder:
        answers = define(sources, exercise, exercise.solution)
        run_check(
            sources.files.checks()[exercise.name], _noted(exercise, answers, tried), PUBLIC_SEED
        )
        names = run_cells(sources, exercise, exercise.solution)
        answers = _noted(exercise, [names[name] for name in exercise.answers], called)
        names = names | dict(zip(exercise.answers, answers, strict=True))
        for line, example in _examples(exercise):
            called.clear()
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(example, f"<example of {exercise.name}>", "single"), names)
            if not set(called) <= set(tried):
                first = example.split("\n")[0]
                message = f"{exercise.name}: no case has the inputs of the example {first!r}"
                yield Mistake(exercise.cell.file, exercise.cell.line + line, message)


def _examples(exercise: Exercise) -> Iterator[tuple[int, str]]:
    """Yield the examples in the docstrings of an answer cell, and their lines in it, from 0."""
    for node in ast.walk(ast.parse(exercise.cell.source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (text := ast.get_docstring(node)):
            for example in doctest.DocTestParser().get_examples(text):
                yield node.body[0].lineno - 1 + example.lineno, example.source


def _noted(exercise: Exercise, answers: list[Any], calls: list[str]) -> list[Any]:
    """Return the answers so that each call of them, and each object made, is noted in `calls`."""
    return [
        _noting(name, each, calls) for name, each in zip(exercise.answers, answers, strict=True)
    ]


def _noting(name: str, answer: Any, calls: list[str]) -> Any:
    is_class = isinstance(answer, type)
    function = vars(answer).get("__init__", object.__init__) if is_class else answer

    @wraps(function)
    def noting(*inputs: Any, **named: Any) -> Any:
        given = [*inputs[is_class:], *named.values()]
        calls.append(json.dumps([name, *map(_observed, given)]))
        return function(*inputs, **named)

    if not is_class:
        return noting
    answer.__init__ = noting
    return answer


def _observed(given: Any) -> Any:
    if callable(given) and jax.tree_util.all_leaves([given]):
        return "a function"  # one says as much as another
    return FILE if isinstance(given, str) and given.endswith(FILE) else observe(given)
