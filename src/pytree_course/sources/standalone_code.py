"""Code of a lesson that runs outside of it: a cell below the definitions of the names it uses."""

import ast
import builtins
import dis
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

MAX_DEFINITION_LINES = 26
"""Code that needs more lines of definitions is not asked about outside its lesson."""
_CHANGES = re.compile(
    "register|append|extend|update|add|pop|insert|remove|sav|set|writ|clear|donat"
)
"""Beginnings of functions' names whose calls change their object or their first argument."""


def make_standalone(code: str, question: str, cells_above: Sequence[str]) -> str | None:
    """Return code below the statements that define the names used by it and by its question.

    Imports need no definition. Blank lines are as in the lesson, with one between two cells.
    None if a name is not defined above, or too many lines are needed.
    """
    compiled = _compiled(code)
    if compiled is None:
        return None
    above = [statement for cell in cells_above for statement in _statements(cell)]
    imported = {name for statement in above if statement.is_import for name in statement.binds}
    known = {*dir(builtins), "__annotations__", *imported}
    bound_above = {name for statement in above for name in statement.binds}
    defined, wanted = _names(compiled)
    wanted |= (_names_in_question(question) & bound_above) - defined
    wanted -= known
    definitions: list[str] = []
    for statement in reversed(above):
        if not statement.is_import and wanted & statement.binds:
            # A statement that changes an object, such as `tree["w"] = 1`, reads its name: the
            # object's definition is wanted too.
            wanted = (wanted - statement.binds) | (statement.reads - known)
            definitions.insert(0, statement.source)
    line_count = sum(len(definition.strip().splitlines()) for definition in definitions)
    if wanted or line_count > MAX_DEFINITION_LINES:
        return None
    return "\n".join([*definitions, f"\n{code}"]).strip("\n")


def _names_in_question(question: str) -> set[str]:
    """Return the names that a question's inline code reads."""
    quotes = map(_compiled, re.findall(r"`([^`]+)`", question))
    return {name for quote in quotes if quote for name in _names(quote)[1]}


@dataclass(frozen=True)
class _Statement:
    """A statement on the top level of a cell."""

    source: str  # below its blank lines
    is_import: bool
    binds: set[str]  # the names that it defines, and those of objects that it changes
    reads: set[str]  # the names that it reads before it defines them


def _statements(cell: str) -> Iterator[_Statement]:
    if _compiled(cell) is None:
        return
    lines = ["", *cell.strip().splitlines()]
    for node in ast.parse(cell.strip()).body:
        # Decorators are above the line of their function.
        first = min(getattr(part, "lineno", node.lineno) for part in ast.walk(node))
        while first and not lines[first - 1].strip():
            first -= 1
        source = "\n".join(lines[first : (node.end_lineno or first) + 1])
        defined, reads = _names(compile(ast.Module([node], []), "<cell>", "exec"))
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        yield _Statement(source, is_import, defined | _changed_objects(node), reads)


def _compiled(source: str) -> CodeType | None:
    """Return a cell's code; None if it is not Python, such as a magic of IPython's."""
    try:
        return compile(source, "<cell>", "exec")
    except SyntaxError:
        return None


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code defines in its own scope, and those that it reads before that."""
    defined: set[str] = set()
    read: set[str] = set()
    for instruction in dis.get_instructions(code):
        match instruction.opname, instruction.argval:
            case "STORE_NAME", name:
                defined.add(name)
            case (("LOAD_NAME" | "LOAD_GLOBAL"), name):
                read |= {name} - defined
            case _, CodeType() as inner:
                # A function or class may name itself.
                read |= _names(inner)[1] - defined - {inner.co_name}
    return defined, read


def _changed_objects(node: ast.stmt) -> set[str]:
    """Return the names of objects that a statement changes by an assignment or a call."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return set()
    changed: list[ast.AST] = [
        target.value
        for target in ast.walk(node)
        if isinstance(target, ast.Subscript | ast.Attribute) and isinstance(target.ctx, ast.Store)
    ]
    match getattr(node, "value", None):
        case ast.Call(func=ast.Attribute(attr=name, value=owner), args=arguments):
            if _CHANGES.match(name):
                changed += [owner, *arguments[:1]]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            if _CHANGES.match(name):
                changed += arguments[:1]
    parts = [part for expression in changed for part in ast.walk(expression)]
    return {part.id for part in parts if isinstance(part, ast.Name)}
