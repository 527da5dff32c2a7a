"""Make a prediction's code stand alone: put the lines that define its names above it."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

MOST_LINES = 8
"""A question that needs more lines of definitions is not asked outside its lesson."""


def standing_alone(code: str, question: str, above: Sequence[str]) -> str | None:
    """Return a cell's code below the statements that define the names which it and its question use.

    Imports count as known. None if some name is not defined above, or that takes too many lines.
    """
    statements = [
        (node, cell)
        for cell in above
        for node in (ast.parse(cell).body if _is_python(cell) else [])
        if not isinstance(node, ast.Expr)
    ]
    known = {name for node, _ in statements if _is_import(node) for name in _bound(node)}
    if not _is_python(code):
        return None
    tree = ast.parse(code)
    mentioned = {name for part in re.findall(r"`([^`]+)`", question) for name in _used_in(part)}
    defined_above = {name for node, _ in statements for name in _bound(node)}
    own = {name for node in tree.body for name in _bound(node)}
    wanted = _free(tree.body) | (mentioned & defined_above - own)
    wanted -= known | {*dir(builtins)}
    chosen = []
    for node, cell in reversed(statements):
        if not _is_import(node) and wanted & _bound(node):
            # A statement that changes a name, as `tree["w"] = 1` does, needs its definition too.
            wanted = (wanted - _bound(node)) | (_free([node]) - known - {*dir(builtins)})
            chosen.append(_source(node, cell))
    lines = sum(len(source.splitlines()) for source in chosen)
    if wanted or lines > MOST_LINES:
        return None
    return "\n".join([*reversed(chosen), code])


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:  # such as a magic of IPython's
        return False
    return True


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _used_in(expression: str) -> set[str]:
    return _free(ast.parse(expression).body) if _is_python(expression) else set()


def _source(node: ast.stmt, cell: str) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(cell.splitlines()[first - 1 : node.end_lineno])


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a cell's top level defines or changes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {target.id for target in _targets(node)}


def _targets(node: ast.stmt) -> Iterator[ast.Name]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner
        elif isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield from (part for part in ast.walk(inner.value) if isinstance(part, ast.Name))


def _free(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements read before they define them, in order."""
    free: set[str] = set()
    defined: set[str] = set()
    for node in _simple(body):
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
        local = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = [each for each in ast.walk(node) if isinstance(each, type(node))]
            local |= {each.name for each in inner}
            local |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
        free |= read - defined - local - _in_comprehensions(node)
        defined |= _bound(node)
    return free


def _simple(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements one after the other, those inside of loops and branches too."""
    for node in body:
        match node:
            case ast.For():
                yield ast.Assign([node.target], node.iter)
                yield from _simple([*node.body, *node.orelse])
            case ast.While() | ast.If():
                yield ast.Expr(node.test)
                yield from _simple([*node.body, *node.orelse])
            case ast.With():
                for item in node.items:
                    targets = [item.optional_vars] if item.optional_vars else []
                    yield ast.Assign(targets, item.context_expr)
                yield from _simple(node.body)
            case ast.Try():
                for handler in node.handlers:
                    if handler.name:
                        yield ast.Assign([ast.Name(handler.name, ast.Store())], ast.Constant(None))
                handlers = [part for handler in node.handlers for part in handler.body]
                yield from _simple([*node.body, *handlers, *node.orelse, *node.finalbody])
            case _:
                yield node


def _in_comprehensions(node: ast.stmt) -> set[str]:
    targets = [each.target for each in ast.walk(node) if isinstance(each, ast.comprehension)]
    return {part.id for each in targets for part in ast.walk(each) if isinstance(part, ast.Name)}
