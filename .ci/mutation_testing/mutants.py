"""Mutants: right answers with one small change each, which a check should refuse."""

import ast
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

from mutation_testing.mutations import NOTHING, mutations

MAX_SHOWN = 70  # characters of each side of a change
SHORT = 4  # characters; a shorter change is shown with the expression around it


@dataclass(frozen=True)
class Mutant:
    """A right answer with one change; `change` names it among the answer's mutants."""

    answer: str  # the name of the right answer
    change: str  # before → after
    source: str

    @property
    def name(self) -> str:
        """The mutant's name in its exercise."""
        return f"{self.answer}: {self.change}"


def mutants(answer: str, source: str) -> list[Mutant]:
    """Return the mutants of a right answer; their names depend on its source alone."""
    tree = ast.parse(source)
    unchanged = ast.unparse(tree)
    changes: dict[str, tuple[str, int]] = {}
    for line, change, mutated in _mutated(tree):
        if mutated != unchanged and _compiles(mutated):
            changes.setdefault(mutated, (change, line))
    alike = Counter(change for change, _ in changes.values())
    on_line: Counter[tuple[str, int]] = Counter()
    made = []
    for mutated, (change, line) in changes.items():
        on_line[change, line] += 1
        place = f", line {line}" if alike[change] > 1 else ""
        again = f", {on_line[change, line]}" if on_line[change, line] > 1 else ""
        made.append(Mutant(answer, f"{change}{place}{again}", mutated))
    return made


def _compiles(source: str) -> bool:
    """Return whether a source compiles, with or without warnings."""
    with warnings.catch_warnings(action="ignore"), suppress(SyntaxError):
        compile(source, "<mutant>", "exec")
        return True
    return False


@dataclass(frozen=True)
class _Place:
    """The position of a node in its tree."""

    parent: ast.AST
    field: str
    index: int | None
    is_message: bool  # whether it is part of what is raised

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def _mutated(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the change and the whole source of each mutant of a tree."""
    for place, node in list(_places(tree)):
        for new in mutations(node, place.parent, place.field, place.is_message):
            shown, mutated = _shown(place, node, new)
            place.put(new)
            change = f"{shown} → {_text(mutated if mutated is not None else new)}"
            source = ast.unparse(ast.fix_missing_locations(tree))
            place.put(node)
            yield getattr(node, "lineno", 0), change, source


def _places(node: ast.AST, is_message: bool = False) -> Iterator[tuple[_Place, ast.AST]]:
    is_message |= isinstance(node, ast.Raise)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "format_spec"):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                at = index if isinstance(value, list) else None
                yield _Place(node, field, at, is_message), child
                yield from _places(child, is_message)


def _shown(place: _Place, node: ast.AST, new: ast.AST) -> tuple[str, ast.AST | None]:
    """Return the text before a change, and the node to show after it if that is not the new one."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and isinstance(new, type(node)):
        dropped = next(each for each in node.decorator_list if each not in new.decorator_list)
        return f"@{_text(dropped)}", NOTHING
    text = _text(node)
    says_little = isinstance(node, (ast.Constant, ast.Name, ast.UnaryOp)) or len(text) < SHORT
    if says_little and isinstance(place.parent, (ast.expr, ast.keyword)):
        around = copy(place.parent)
        value: Any = new
        if place.index is not None:
            value = list(getattr(place.parent, place.field))
            value[place.index] = new
        setattr(around, place.field, value)
        return _text(place.parent), around
    return text, None


def _text(node: ast.AST) -> str:
    """Return a node's code on one line, shortened in the middle."""
    if node is NOTHING:
        return "nothing"
    text = " ".join(ast.unparse(node).split())
    half = MAX_SHOWN // 2
    return text if len(text) <= MAX_SHOWN else f"{text[:half]} … {text[-half:]}"
