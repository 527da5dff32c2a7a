"""Digest what decides an exercise's results, apart from the words about it."""

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytree_course.sources.exercises import Exercise
from pytree_course.texts import text_digest


def deciding_digests(exercises: Mapping[str, Exercise], check_script: str) -> dict[str, str]:
    """Return a digest for each exercise, by name, of everything that decides results and points.

    That is its set-up cell, starter and solution, its points, and its check with the definitions
    of the script that the check uses. Prompts, hints, titles and explanations are not part of it.
    """
    digests = {}
    for name, exercise in exercises.items():
        texts = [exercise.setup, exercise.starter.source, exercise.solution.source]
        texts += [*exercise.answers, str(exercise.points)]
        digests[name] = text_digest(*texts, *used_code(check_script, name))
    return digests


def used_code(script: str, name: str) -> list[str]:
    """Return the top-level definitions and imports of a script that one definition needs, in order.

    A statement that defines nothing, such as a registration, is always among them.
    """
    parts = list(_parts(script))
    used = {number for number, part in enumerate(parts) if not part.defines}
    wanted = {name}
    while wanted:
        added = {number for number, part in enumerate(parts) if part.defines & wanted} - used
        used |= added
        wanted = set().union(*(parts[number].reads for number in added))
    return [parts[number].text for number in sorted(used)]


class _Part(NamedTuple):
    """A top-level statement of a script, or one name of an import."""

    defines: set[str]
    reads: set[str]
    text: str


def _parts(script: str) -> Iterator[_Part]:
    lines = script.splitlines()
    for statement in ast.parse(script).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        reads = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        # Not `ast.unparse`, whose text depends on the version of Python; decorators stand above.
        first = min(getattr(node, "lineno", statement.lineno) for node in ast.walk(statement))
        text = "\n".join(lines[first - 1 : statement.end_lineno])
        match statement:
            case ast.Expr(value=ast.Constant()):
                pass  # the script's docstring
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield _Part({name}, reads, text)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                module = getattr(statement, "module", "")
                for alias in aliases:
                    name = alias.asname or alias.name.partition(".")[0]
                    yield _Part({name}, set(), f"{module}: {alias.name} as {name}")
            case _:
                yield _Part({node.id for node in names} - reads, reads, text)
