"""The code that other code needs: of a lesson for a question, of a check script for a digest."""

import ast
import builtins
import dis
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType

MAX_DEFINITION_LINES = 26
"""Code that needs more lines of definitions is not asked about outside its lesson."""
_CHANGES = re.compile(
    "register|append|extend|update|add|pop|insert|remove|sav|set|writ|clear|donat"
)
"""Beginnings of functions' names whose calls change their object or their first argument."""
_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (*_IMPORTS, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def make_standalone(code: str, question: str, cells_above: Sequence[str]) -> str | None:
    """Return code below the statements that define the names used by it and by its question.

    Imports need no definition. Blank lines are as in the lesson, with one between two cells.
    None if a name is not defined above, or too many lines are needed.
    """
    if not _is_python(code):
        return None
    above = [
        statement for cell in filter(_is_python, cells_above) for statement in _statements(cell)
    ]
    imported = {name for each in above if isinstance(each.node, _IMPORTS) for name in each.defines}
    known = {*dir(builtins), "__annotations__", *imported}
    bound_above = {name for statement in above for name in statement.defines | statement.changes}
    defined, wanted = names_of(code)
    wanted |= (_names_in_question(question) & bound_above) - defined
    wanted -= known
    definitions: list[str] = []
    for statement in reversed(above):
        bound = statement.defines | statement.changes
        if not isinstance(statement.node, _IMPORTS) and wanted & bound:
            # A statement that changes an object, such as `tree["w"] = 1`, reads its name: the
            # object's definition is wanted too.
            wanted = (wanted - bound) | (statement.reads - known)
            definitions.insert(0, statement.source)
    line_count = sum(len(definition.strip().splitlines()) for definition in definitions)
    if wanted or line_count > MAX_DEFINITION_LINES:
        return None
    return "\n".join([*definitions, f"\n{code}"]).strip("\n")


def used_code(script: str, name: str) -> list[str]:
    """Return the top-level definitions and imports of a script that one definition needs, in order.

    A statement that is no definition, such as a registration, is always among them.
    """
    parts = _parts(script)
    used = {part for part in parts if not isinstance(part.node, _DEFINITIONS)}
    wanted = {name}
    while wanted:
        added = {part for part in parts if part.defines & wanted} - used
        used |= added
        wanted = set().union(*(part.reads for part in added))
    return [part.source.strip("\n") for part in parts if part in used]


@dataclass(frozen=True, eq=False)
class _Statement:
    """A statement on the top level of a cell or script."""

    node: ast.stmt
    source: str  # below its blank lines
    defines: set[str]
    reads: set[str]  # the names that it reads before it defines them

    @property
    def changes(self) -> set[str]:
        """The names of objects that it changes by an assignment or a call."""
        if isinstance(self.node, ast.FunctionDef | ast.ClassDef):
            return set()
        changed: list[ast.AST] = [
            target.value
            for target in ast.walk(self.node)
            if isinstance(target, ast.Subscript | ast.Attribute)
            and isinstance(target.ctx, ast.Store)
        ]
        match getattr(self.node, "value", None):
            case ast.Call(func=ast.Attribute(attr=name, value=owner), args=arguments):
                if _CHANGES.match(name):
                    changed += [owner, *arguments[:1]]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                if _CHANGES.match(name):
                    changed += arguments[:1]
        parts = [part for expression in changed for part in ast.walk(expression)]
        return {part.id for part in parts if isinstance(part, ast.Name)}


def _statements(code: str) -> Iterator[_Statement]:
    lines = ["", *code.strip().splitlines()]
    for node in ast.parse(code.strip()).body:
        # Decorators are above the line of their function.
        first = min(getattr(part, "lineno", node.lineno) for part in ast.walk(node))
        while first and not lines[first - 1].strip():
            first -= 1
        # Not `ast.unparse`, whose text depends on the version of Python.
        source = "\n".join(lines[first : (node.end_lineno or first) + 1])
        yield _Statement(node, source, *names_of(ast.Module([node], [])))


@cache  # asked once for each exercise
def _parts(script: str) -> list[_Statement]:
    """Return a script's statements: an import as one of each name, and no docstring."""
    parts = []
    for statement in _statements(script):
        match statement.node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                module = getattr(statement.node, "module", "")
                for alias in aliases:
                    name = alias.asname or alias.name.partition(".")[0]
                    source = f"{module}: {alias.name} as {name}"
                    parts.append(replace(statement, source=source, defines={name}, reads=set()))
            case _:
                parts.append(statement)
    return parts


def _names_in_question(question: str) -> set[str]:
    """Return the names that a question's inline code reads."""
    quotes = filter(_is_python, re.findall(r"`([^`]+)`", question))
    return {name for quote in quotes for name in names_of(quote)[1]}


def _is_python(source: str) -> bool:
    """Return whether a cell is Python, and not a magic of IPython's, for example."""
    try:
        compile(source, "<cell>", "exec")
    except SyntaxError:
        return False
    return True


def names_of(code: str | ast.Module | CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code defines in its own scope, and those that it reads before that."""
    if not isinstance(code, CodeType):
        code = compile(code, "<cell>", "exec")
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
                read |= names_of(inner)[1] - defined - {inner.co_name}
    return defined, read
