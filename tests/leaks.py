"""Look for answers' code in files: as text, and as what Python makes of it."""

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator

from pytree_course.sources.exercises import Exercise

FEWEST_NODES = 15
"""What has fewer syntax nodes, as `return len(tree)` has, is anybody's."""

DEFINES = re.compile(r"\b(def|class) |=")
"""What a text that defines something holds. Most texts of a bundle do not, and are not parsed."""


def find_leaks(contents: dict[str, bytes], exercises: Iterable[Exercise]) -> set[tuple[str, str]]:
    """Return which answer is found in which file.

    All answers are looked for as text, whatever its whitespace; right ones also as syntax, whatever
    the names and docstrings in it. What a starter itself says is no leak.
    """
    files = {
        name: (squeeze("\n".join(texts)), set().union(*map(shapes, {*texts})))
        for name, content in contents.items()
        if (texts := list(texts_in(name, content)))
    }
    found = set()
    for exercise in exercises:
        starter = exercise.starter.source
        right = [exercise.solution, *exercise.variants]
        for answer in [*right, *exercise.misconceptions]:
            if squeeze(answer.source) == squeeze(starter):
                continue
            source = squeeze(answer.source)
            wanted = shapes(answer.source, exercise.answers) if answer in right else set()
            wanted -= shapes(starter)
            for file, (text, there) in files.items():
                if source in text or (wanted and wanted <= there):
                    found.add((file, f"{exercise.name}: {answer.name}"))
    return found


def texts_in(name: str, content: bytes) -> Iterator[str]:
    """Return the texts of a file; those of JSON one by one, the lines of a cell together."""
    if name.endswith(".png"):
        return  # a person has to look at it
    text = content.decode()
    if name.endswith((".json", ".ipynb")):
        yield from _strings(json.loads(text))
    else:
        yield text


def squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text)


def shapes(code: str, names: Collection[str] | None = None) -> set[str]:
    """Return the syntax of what code defines, without local names and docstrings.

    What is short counts together with its name.

    Parameters
    ----------
    names
        The definitions at the code's top level to look at; all definitions when not given.
    """
    if not DEFINES.search(code):
        return set()
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return set()
    found = set()
    for node in ast.walk(tree) if names is None else tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name, shape = node.name, _shape(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, shape = node.targets[0].id, ast.dump(node.value)
        else:
            continue
        if names is None or name in names:
            found.add(shape if shape.count("(") >= FEWEST_NODES else f"{name}: {shape}")
    return found


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list) and data and all(isinstance(each, str) for each in data):
        yield "".join(data)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)


def _shape(definition: ast.FunctionDef | ast.ClassDef) -> str:
    """Return the syntax of decorators and body, local names numbered: first the arguments."""
    body = ast.Module([*definition.body, *map(ast.Expr, definition.decorator_list)], [])
    documented = ast.FunctionDef | ast.ClassDef | ast.Module
    for node in ast.walk(body):
        if isinstance(node, documented) and ast.get_docstring(node):
            del node.body[0]
    named = [each.arg for each in ast.walk(definition) if isinstance(each, ast.arg)]
    for each in ast.walk(body):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            named.append(each.id)
    numbers = {name: f"#{number}" for number, name in enumerate(dict.fromkeys(named))}

    def number(match: re.Match[str]) -> str:
        return match[1] + numbers.get(match[2], match[2])

    return re.sub(r"((?:id|arg)=')(\w+)", number, ast.dump(body))
