"""Skeletons: the last hint of a core exercise is its solution, without what decides."""

import ast
import re

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
