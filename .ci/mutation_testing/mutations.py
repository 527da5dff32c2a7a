"""Mutation operators: small changes that make correct code wrong."""

import ast
from collections.abc import Iterator
from copy import copy
from typing import Any

NOTHING = ast.Pass()
"""The replacement for a dropped statement."""

OPERATORS: dict[type[ast.AST], list[type[ast.AST]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq, ast.Is],
    ast.NotEq: [ast.Eq, ast.IsNot],
    ast.Is: [ast.IsNot, ast.Eq],
    ast.IsNot: [ast.Is, ast.NotEq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}

COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)

NAMES = {
    "any": "all",
    "all": "any",
    "max": "min",
    "sum": "max",
    "mean": "sum",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "ones": "zeros",
    "list": "tuple",
    "tuple": "list",
    "normal": "uniform",
    "log_softmax": "softmax",
    "grad": "value_and_grad",
    "deepcopy": "copy",
    "startswith": "endswith",
    "isnan": "isinf",
    "shape": "size",
    "ndim": "size",
    "floating": "inexact",
    "float32": "float16",
    "int32": "float32",
    "leaves_with_path": "leaves",
    "tree_leaves_with_path": "tree_leaves",
    "GetAttrKey": "DictKey",
    "DictKey": "GetAttrKey",
    "SequenceKey": "DictKey",
}
"""Functions, dtypes and attributes in the course's answers, and what they are confused with."""


def mutations(node: ast.AST, parent: ast.AST, field: str, is_message: bool) -> Iterator[ast.AST]:
    """Yield replacements for a node that may make an answer wrong; the node is not changed.

    Strings in an error's message stay: no check reads them.
    """
    if isinstance(node, ast.stmt):
        yield from _of_statement(node, parent)
    elif isinstance(node, ast.expr):
        if field in ("test", "ifs"):  # of a statement, an expression or a comprehension
            yield ast.Constant(True)
            yield ast.Constant(False)
        if isinstance(parent, ast.JoinedStr):
            if isinstance(node, ast.FormattedValue) or not is_message:
                yield ast.Constant("")
        elif not (is_message and isinstance(node, ast.Constant)):
            yield from _of_expression(node, parent, field)


def _of_statement(node: ast.stmt, parent: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef(decorator_list=decorators) | ast.ClassDef(decorator_list=decorators):
            for dropped in decorators:
                yield _with(node, decorator_list=[each for each in decorators if each != dropped])
        case ast.Import() | ast.ImportFrom() | ast.Pass():
            return
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.AugAssign(op=operator):
            yield NOTHING
            for other in OPERATORS.get(type(operator), []):
                yield _with(node, op=other())
            yield ast.Assign([node.target], node.value, lineno=node.lineno)
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield NOTHING
            yield ast.Break()
        case ast.Assign() | ast.AnnAssign() if isinstance(parent, ast.Module):
            return  # nothing would run without it
        case ast.Raise(exc=ast.Call(func=ast.Name())):
            yield NOTHING
            yield _with(node, exc=_with(node.exc, func=ast.Name("Exception")))
        case _:
            yield NOTHING


def _of_expression(node: ast.expr, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=True) if isinstance(parent, ast.keyword):
            return  # usually equals dropping the keyword argument
        case ast.Constant(value=value) if not isinstance(parent, ast.Expr):
            is_negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
            yield from map(ast.Constant, _other_constants(value, is_negated))
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.BinOp(left=left, op=operator, right=right):
            for other in OPERATORS.get(type(operator), []):
                yield _with(node, op=other())
            yield left
            yield right
            if not isinstance(operator, COMMUTATIVE) or ast.List in (type(left), type(right)):
                yield _with(node, left=right, right=left)
        case ast.BoolOp(op=operator, values=values):
            yield _with(node, op=OPERATORS[type(operator)][0]())
            for place in range(len(values)):
                yield _without_one(node, "values", place) if len(values) > 2 else values[place]
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Call():
            yield from _of_call(node)
        case ast.Name(id=name) if name in NAMES:
            yield ast.Name(NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES and isinstance(node.ctx, ast.Load):
            yield _with(node, attr=NAMES[name])
        case ast.Slice():
            for part in ("lower", "upper", "step"):
                if getattr(node, part) is not None:
                    yield _with(node, **{part: None})
        case ast.Tuple() | ast.List() if isinstance(node.ctx, ast.Load):
            yield from _of_display(node, parent, field)
        case ast.Dict(keys=keys, values=values):
            for place in range(len(keys)):
                one_less = _without_one(node, "keys", place)
                yield _with(one_less, values=[*values[:place], *values[place + 1 :]])


def _of_comparison(node: ast.Compare) -> Iterator[ast.AST]:
    pairs = zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False)
    for place, (operator, left, right) in enumerate(pairs):
        for other in OPERATORS[type(operator)]:
            if {other, type(operator)} & {ast.Is, ast.IsNot} and _is_one_object(left, right):
                continue
            yield _with(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def _is_one_object(left: ast.expr, right: ast.expr) -> bool:
    """Return whether `is` equals `==`, as for types, small integers and short strings."""
    return any(
        (isinstance(each, ast.Constant) and each.value is not None)
        or (isinstance(each, ast.Call) and ast.unparse(each.func) in ("len", "type"))
        for each in (left, right)
    )


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    function, arguments = node.func, node.args
    for argument in arguments[:2]:
        if not isinstance(argument, ast.Starred):
            yield argument
    if isinstance(function, ast.Attribute) and not _is_module(function.value):
        yield function.value
    for place in range(len(node.keywords)):
        yield _without_one(node, "keywords", place)
    for place in range(len(arguments) - 1):
        first, second = arguments[place : place + 2]
        swapped = [*arguments[:place], second, first, *arguments[place + 2 :]]
        if not any(isinstance(each, ast.Starred) for each in (first, second)):
            yield _with(node, args=swapped)
    if len(arguments) > 1:
        yield _without_one(node, "args", len(arguments) - 1)
    if isinstance(function, ast.Name) and function.id == "isinstance" and len(arguments) == 2:
        value, kinds = arguments
        operator = ast.In() if isinstance(kinds, ast.Tuple) else ast.Is()
        exact = ast.Call(ast.Name("type"), [value], [])
        yield ast.Compare(exact, [operator], [kinds])
    if ast.unparse(function) == "jax.tree.map" and len(arguments) == 2:
        leaves = ast.Call(_with(function, attr="leaves"), arguments[1:], node.keywords)
        yield ast.Call(
            ast.Name("list"), [ast.Call(ast.Name("map"), [arguments[0], leaves], [])], []
        )


def _of_display(node: ast.Tuple | ast.List, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """Drop each item; where the display is a value, also swap list and tuple."""
    for place in range(len(node.elts)):
        yield _without_one(node, "elts", place)
    is_value = isinstance(parent, (ast.Return, ast.Assign, ast.Lambda, ast.Tuple, ast.List))
    if is_value or isinstance(parent, (ast.IfExp, ast.Dict, ast.ListComp)):
        kind = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
        yield kind(node.elts, ast.Load())


def _other_constants(value: Any, is_negated: bool) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        # Another mutation drops the minus of a negated constant.
        others = [value + 1, value - 1, type(value)(0), *([] if is_negated else [-value])]
        return [other for other in dict.fromkeys(others) if other != value]
    if isinstance(value, (str, bytes)) and value:
        return [type(value)()]
    return []


def _is_module(node: ast.AST) -> bool:
    """Return whether a dotted name begins with a module, as `jax.tree` does."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in MODULES


MODULES = ("jax", "jnp", "np", "copy", "math", "functools", "itertools", "operator", "dataclasses")


def _with(node: Any, **fields: Any) -> Any:
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _without_one(node: ast.AST, field: str, place: int) -> Any:
    values = getattr(node, field)
    return _with(node, **{field: [*values[:place], *values[place + 1 :]]})
