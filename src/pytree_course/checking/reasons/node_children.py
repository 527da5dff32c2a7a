"""How the children of two nodes differ: items of a list or tuple, and entries under keys."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from pytree_course.checking.comparison import agree, compare
from pytree_course.checking.reasons.counts import direction
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.reasons.leaf_rules import text_rule
from pytree_course.checking.reasons.places import are_alike, children_of, is_node, keys_of
from pytree_course.observations import Observation, all_parts


def items_clause(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on series of items: missing, too many, or in another order."""
    pairs = [(case.expected, case.got) for case in wrong]
    if not all(_is_series(each) for pair in pairs for each in pair):
        return ""
    if grouping := _grouping(pairs):
        return grouping
    lost = [_left_over(children_of(right), children_of(got)) for right, got in pairs]
    more = [_left_over(children_of(got), children_of(right)) for right, got in pairs]
    if not any(lost) and not any(more):
        is_long = len(pairs) > 2 or any(len(children_of(right)) > 2 for right, _ in pairs)
        if is_long and all(agree(children_of(r)[::-1], children_of(got)) for r, got in pairs):
            return "it has the right items in reverse order"
        if all(_is_sorted(got) and not _is_sorted(right) for right, got in pairs):
            return "it has the right items, but sorted as texts or numbers"
        return "it has the right items in another order"
    if all(lost) and not any(more):
        return f"it lacks {_what(lost)}"
    if all(more) and not any(lost):
        return f"it has {_what(more)} that should not be there"
    sizes = [len(children_of(got)) - len(children_of(right)) for right, got in pairs]
    if all(sizes) and (where := direction(sizes)):
        return f"it has {'too many' if where == 'too high' else 'too few'} items"
    return ""


def keys_clause(wrong: Sequence[Evidence]) -> str:
    """Return a clause on the keys of dicts and other nodes."""
    pairs = [(case.expected, case.got) for case in wrong]
    if not all(is_node(each) for pair in pairs for each in pair):
        return ""
    if any(are_alike(right, got) or right["type"] != got["type"] for right, got in pairs):
        return ""
    lost = [[key for key in keys_of(right) if key not in keys_of(got)] for right, got in pairs]
    more = [[key for key in keys_of(got) if key not in keys_of(right)] for right, got in pairs]
    if all(lost) and not any(more):
        return f"it lacks {_entries_with(lost)}{_holding(lost, [right for right, _ in pairs])}"
    if all(more) and not any(lost):
        holding = _holding(more, [got for _, got in pairs])
        return f"it has {_entries_with(more)}{holding} that should not be there"
    if all(lost) and all(more):
        same_values = all(
            not _left_over(children_of(right), children_of(got)) for right, got in pairs
        )
        said = (
            "it has the right values under the wrong keys"
            if same_values
            else "it has the wrong keys"
        )
        rule = ""
        if all(len(each) == len(other) for each, other in zip(lost, more, strict=True)):
            rule = text_rule(list(zip(chain(*lost), chain(*more), strict=True)))
        return f"{said}: each is {rule}" if rule else said
    if not any(lost) and not any(more):
        return "it has the right entries in another order"
    return ""


def _grouping(pairs: Sequence[tuple[Observation, Observation]]) -> str:
    """Return a clause where the leaves are right, and what holds them is not."""
    leaves = [[_inside(each) for each in pair] for pair in pairs]
    if any(_left_over(right, got) or _left_over(got, right) for right, got in leaves):
        return ""
    more = [_count_containers(got) - _count_containers(right) for right, got in pairs]
    if all(count < 0 for count in more):
        return "it holds the right leaves, but takes apart a container that should stay together"
    if all(count > 0 for count in more):
        return (
            "it holds the right leaves, but keeps a container together that should be taken apart"
        )
    return ""


def _inside(observation: Observation) -> list[Observation]:
    """Return the leaves, those in containers that are leaves for JAX among them."""
    if observation["kind"] == "container leaf":
        return [leaf for item in observation["items"] for leaf in _inside(item)]
    if is_node(observation):
        return [leaf for child in children_of(observation) for leaf in _inside(child)]
    return [observation]


def _count_containers(observation: Observation) -> int:
    kinds = (part["kind"] for _, part in all_parts(observation))
    return sum(kind in ("node", "container leaf") for kind in kinds)


def _is_sorted(series: Observation) -> bool:
    values: list[Any] = [child.get("value") for child in children_of(series)]
    is_plain = all(isinstance(value, str) for value in values) or all(
        isinstance(value, (int, float)) for value in values
    )
    return is_plain and values == sorted(values)


def _what(series: Sequence[Sequence[Observation]]) -> str:
    """Say what items are, where all are of one kind."""
    kinds = {_plural(item) for items in series for item in items}
    return kinds.pop() if len(kinds) == 1 else "items"


def _plural(item: Observation) -> str:
    match item["kind"]:
        case "none":
            return "`None`s"
        case "array":
            return "0-d arrays" if not item["shape"] else "arrays"
        case "string":
            return "texts"
        case "number":
            return f"numbers of type {item['type']}"
        case "node":
            return "empty containers" if not item["children"] else "containers"
    return "items"


def _is_series(observation: Observation) -> bool:
    return is_node(observation) and observation["type"] in ("list", "tuple")


def _left_over(some: Sequence[Observation], others: Sequence[Observation]) -> list[Observation]:
    """Return what is in one series and not in the other, each item counted."""
    left = list(others)
    over = []
    for item in some:
        place = next((at for at, other in enumerate(left) if not compare(other, item)), None)
        if place is None:
            over.append(item)
        else:
            del left[place]
    return over


def _holding(keys: Sequence[Sequence[str]], nodes: Sequence[Observation]) -> str:
    """Say what entries hold, where all hold the same kind of thing."""
    held = [dict(node["children"]) for node in nodes]
    what = _what([[each[key] for key in some] for some, each in zip(keys, held, strict=True)])
    return (
        ""
        if what == "items"
        else f", with {what} in it,"
        if all(len(each) == 1 for each in keys)
        else f" with {what} in them"
    )


def _entries_with(keys: Sequence[Sequence[str]]) -> str:
    return "one entry" if all(len(each) == 1 for each in keys) else "entries"
