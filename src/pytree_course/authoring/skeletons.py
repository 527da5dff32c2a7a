"""Skeletons: the last hint of a core exercise is its solution, without what decides."""

import ast
from typing import Any

OPENED, CLOSED = "```python\n", "```"


def is_skeleton(hint: str, solution: str) -> bool:
    """Say whether a hint is a solution's code, in which `...` stands for some of it.

    It may stand for an expression, or for one or more statements.
    """
    hint = hint.strip()
    if not (hint.startswith(OPENED) and hint.endswith(CLOSED) and "..." in hint):
        return False
    code = hint.removeprefix(OPENED).removesuffix(CLOSED)
    try:
        return _fits(ast.parse(code), ast.parse(solution))
    except SyntaxError:
        return False


def _fits(part: Any, whole: Any) -> bool:
    if isinstance(part, ast.Constant) and part.value is ...:
        return isinstance(whole, ast.expr)
    if isinstance(part, list) and isinstance(whole, list):
        if not (part and whole):
            return part == whole
        if isinstance(part[0], ast.Expr) and isinstance(whole[0], ast.stmt) and _is_blank(part[0]):
            return any(_fits(part[1:], whole[taken:]) for taken in range(1, len(whole) + 1))
        return _fits(part[0], whole[0]) and _fits(part[1:], whole[1:])
    if not isinstance(part, ast.AST):
        return bool(part == whole)
    return type(part) is type(whole) and all(
        _fits(_without_docstring(part, name), _without_docstring(whole, name))
        for name in part._fields
    )


def _is_blank(statement: ast.Expr) -> bool:
    return isinstance(statement.value, ast.Constant) and statement.value.value is ...


def _without_docstring(node: ast.AST, name: str) -> Any:
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and name == "body":
        return node.body[1:] if ast.get_docstring(node) else node.body
    return getattr(node, name, None)
