"""Reason by difference: how results differ from what was expected, in every failing case alike."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from pytree_course.checking.comparison import agree, compare
from pytree_course.checking.reasons.counts import name_of_count, name_of_offset
from pytree_course.checking.reasons.evidence import Evidence, in_cases
from pytree_course.checking.reasons.leaf_rules import text_rule
from pytree_course.checking.reasons.places import (
    are_alike,
    children_of,
    differing_keys,
    is_node,
    keys_of,
    narrowed,
)
from pytree_course.checking.reasons.spectrum import only_here
from pytree_course.checking.reasons.wrong_leaves import leaves_clause
from pytree_course.drawing.labels import counted
from pytree_course.trees import Observation

GIVES_BACK = "gives an input back as it is"


def difference_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence on what is the same in all wrong results, or an empty text."""
    wrong = [case for case in cases if case.failed and not case.raised]
    if not wrong or any(case.got["kind"] == "not attempted" for case in wrong):
        return ""
    silent = [case for case in wrong if case.should_raise]
    if silent:
        return _nothing_raised(silent) + only_here(silent, cases)
    where = f"Wherever your result is wrong ({counted(len(wrong), 'case', 'cases')})"
    if whole := _whole(cases, wrong):
        return _sentence(f"{where}, ", whole)
    inner, entry = narrowed(wrong)
    others = [case for case in cases if not case.failed] if not entry else []
    clause = _result([*others, *inner], inner)
    if entry:
        which = f"Only the entry `{entry}` of the result is wrong, {in_cases(wrong)}"
        return _sentence(f"{which}: ", clause) if clause else f"{which}."
    return _sentence(f"{where}, ", clause) if clause else _entries(wrong)


def _sentence(opening: str, clause: str) -> str:
    """Make a sentence: a clause that has no subject yet speaks of the result."""
    has_subject = clause.startswith(("it ", "each ", "the wrong ", "your ", "some of ", "what is "))
    subject = "" if has_subject else "it is "
    return f"{opening}{subject}{clause}{'' if clause.endswith('?') else '.'}"


def _nothing_raised(silent: Sequence[Evidence]) -> str:
    kinds = {case.got["kind"] for case in silent}
    instead = "yields a result"
    if kinds == {"none"}:
        instead = "returns `None`"
    elif all(_is_input(case) for case in silent):
        instead = GIVES_BACK
    elif kinds == {"object"}:
        instead = "makes an object"
    where = in_cases(silent).capitalize()
    return f"{where} an error should be raised; your code raises none and {instead}"


def _is_input(case: Evidence) -> bool:
    is_large = case.got["kind"] in ("node", "array", "container leaf")
    return is_large and any(not compare(given, case.got) for given in case.inputs)


def _whole(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on the results as wholes."""
    if all(case.got["kind"] == "none" for case in wrong):
        return "it is `None`: does every way through your function end with a `return`?"
    if all(case.changed for case in wrong) and not all(
        case.changed for case in cases if not case.failed
    ):
        return "your code has changed its input in place; it should make a new tree"
    if all(_is_input(case) for case in wrong):
        return "it is an input, unchanged"
    results = [case.got for case in cases if not case.raised]
    if len(wrong) > 1 and len(results) > 2 and agree(results[1:], results[:-1]):
        if any(not compare(given, results[0]) for given in cases[0].inputs):
            return ""
        return "it is the same in all other cases too, whatever the input"
    return ""


def _result(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on results, or on the one entry of them that is wrong."""
    return (
        _bools(wrong)
        or _kind(wrong)
        or _count(cases, wrong)
        or _items(cases, wrong)
        or _keys(wrong)
        or leaves_clause(wrong, kind_of)
    )


def _bools(wrong: Sequence[Evidence]) -> str:
    got = [case.got for case in wrong]
    if any(each["kind"] != "number" or each["type"] != "bool" for each in got):
        return ""
    if any(case.expected.get("type") != "bool" for case in wrong):
        return ""
    said = {each["value"] for each in got}
    return f"`{said.pop()}`, and should not be" if len(said) == 1 else ""


def _kind(wrong: Sequence[Evidence]) -> str:
    """Return a clause where results are of another kind than expected."""
    kinds = {(kind_of(case.expected), kind_of(case.got)) for case in wrong}
    if any(expected == got for expected, got in kinds):
        return ""
    if len({got for _, got in kinds}) == 1 and len({expected for expected, _ in kinds}) == 1:
        ((expected, got),) = kinds
        right_inside = all(
            is_node(case.expected)
            and is_node(case.got)
            and agree(children_of(case.expected), children_of(case.got))
            for case in wrong
        )
        inside = ", though what it holds is right" if right_inside else ""
        return f"{got} where {expected} is asked for{inside}"
    if len({got for _, got in kinds}) == 1:
        return f"{kinds.pop()[1]} where something else is asked for"
    if len({expected for expected, _ in kinds}) == 1:
        return f"not {kinds.pop()[0]}, which is asked for"
    return "of another kind than what is asked for"


def kind_of(observation: Observation) -> str:
    """Say what kind of thing was observed, and not which."""
    match observation["kind"]:
        case "node" | "container leaf" | "object":
            name = observation["type"].replace("`", "'")
            named = "a leaf of type" if observation["kind"] == "container leaf" else "a"
            if named == "a" and name[:1].lower() in "aeiou":
                named = "an"
            return f"{named} {name}"
        case "none":
            return "`None`"
        case "array":
            return "an array"
        case "number":
            name = observation["type"]
            return {"bool": "a bool", "int": "an int", "float": "a float"}.get(name, f"a {name}")
        case "string":
            return "a text"
        case "treedef":
            return "a tree structure"
        case "tracer":
            return "a tracer, which has left its function"
        case "key":
            return "an entry of a key path"
        case "shape":
            return "a ShapeDtypeStruct"
        case "unbounded":
            return "something too large to compare"
    return "something else"


def _count(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on whole numbers."""
    if not all(_is_int(case.expected) and _is_int(case.got) for case in wrong):
        return ""
    counting = [case for case in cases if _is_int(case.expected) and _is_int(case.got)]
    offsets = [case.got["value"] - case.expected["value"] for case in counting]
    if name := name_of_count(counting, [case.got["value"] for case in counting]):
        return f"the number of {name}"
    direction = _direction(offsets)
    if direction and (name := name_of_offset(counting, offsets)):
        return f"{direction} by the number of {name}"
    if direction and len(wrong) > 1 and {abs(offset) for offset in offsets} - {0} == {1}:
        return f"{direction} by one"
    return direction


def _direction(offsets: Sequence[int]) -> str:
    if all(offset >= 0 for offset in offsets):
        return "too high"
    return "too low" if all(offset <= 0 for offset in offsets) else ""


def _is_int(observation: Observation) -> bool:
    return observation["kind"] == "number" and type(observation["value"]) is int


def _items(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on series of items: missing, too many, or in another order."""
    pairs = [(case.expected, case.got) for case in wrong]
    if not all(_is_series(each) for pair in pairs for each in pair):
        return ""
    if grouping := _grouping(pairs):
        return grouping
    lost = [_left_over(children_of(right), children_of(got)) for right, got in pairs]
    more = [_left_over(children_of(got), children_of(right)) for right, got in pairs]
    if not any(lost) and not any(more):
        if all(agree(children_of(right)[::-1], children_of(got)) for right, got in pairs):
            return "it has the right items in reverse order"
        if all(_is_sorted(got) and not _is_sorted(right) for right, got in pairs):
            return "it has the right items, but sorted as texts or numbers"
        return "it has the right items in another order"
    if all(lost) and not any(more):
        return f"it lacks {_what(lost)}{_by_number(cases, wrong)}"
    if all(more) and not any(lost):
        repeated = all(
            not _left_over(extra, children_of(right)) or _repeats(extra, children_of(right))
            for extra, (right, _) in zip(more, pairs, strict=True)
        )
        if repeated:
            return "it has all items it should have, but some of them more often"
        return f"it has {_what(more)} that should not be there{_by_number(cases, wrong)}"
    sizes = [len(children_of(got)) - len(children_of(right)) for right, got in pairs]
    if all(sizes) and (direction := _direction(sizes)):
        return f"it has {'too many' if direction == 'too high' else 'too few'} items"
    return ""


def _grouping(pairs: Sequence[tuple[Observation, Observation]]) -> str:
    """Return a clause where the leaves are right, and what holds them is not."""
    leaves = [[_inside(each) for each in pair] for pair in pairs]
    if any(_left_over(right, got) or _left_over(got, right) for right, got in leaves):
        return ""
    sizes = [len(children_of(got)) - len(children_of(right)) for right, got in pairs]
    if all(size > 0 for size in sizes):
        return "it holds the right things, but what should stay together in it is taken apart"
    if all(size < 0 for size in sizes):
        return "it holds the right things, but what should be taken apart in it stays together"
    return ""


def _inside(observation: Observation) -> list[Observation]:
    """Return the leaves, those in containers that are leaves for JAX among them."""
    if observation["kind"] == "container leaf":
        return [leaf for item in observation["items"] for leaf in _inside(item)]
    if is_node(observation):
        return [leaf for child in children_of(observation) for leaf in _inside(child)]
    return [observation]


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


def _by_number(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    series = [case for case in cases if _is_series(case.expected) and _is_series(case.got)]
    sizes = [len(children_of(case.got)) - len(children_of(case.expected)) for case in series]
    name = name_of_offset(series, sizes)
    return f", as many as there are {name}" if name else ""


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


def _repeats(some: Sequence[Observation], others: Sequence[Observation]) -> bool:
    return all(any(not compare(other, item) for other in others) for item in some)


def _keys(wrong: Sequence[Evidence]) -> str:
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


def _holding(keys: Sequence[Sequence[str]], nodes: Sequence[Observation]) -> str:
    """Say what entries hold, where all hold the same kind of thing."""
    held = [dict(node["children"]) for node in nodes]
    what = _what([[each[key] for key in some] for some, each in zip(keys, held, strict=True)])
    return "" if what == "items" else f" (with {what})"


def _entries_with(keys: Sequence[Sequence[str]]) -> str:
    return "one entry" if all(len(each) == 1 for each in keys) else "entries"


def _entries(wrong: Sequence[Evidence]) -> str:
    """Return a sentence on the entries that are wrong, in results that the check puts together."""
    alike = all(are_alike(case.expected, case.got) for case in wrong)
    names = keys_of(wrong[0].expected) if alike else []
    if not alike or wrong[0].expected["type"] != "dict":
        return ""
    if any(keys_of(case.expected) != names for case in wrong) or len(wrong) < 2:
        return ""
    bad = {key for case in wrong for key in differing_keys(case)}
    if len(bad) == len(names):
        return ""
    listed = ", ".join(f"`{key.strip(chr(91) + chr(93) + chr(39))}`" for key in names if key in bad)
    return (
        f"Of the result, the entries {listed} are wrong, {in_cases(wrong)}; the others are right."
    )
