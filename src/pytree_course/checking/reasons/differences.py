"""Reason by difference: how results differ from what was expected, in every failing case alike."""

import json
from collections.abc import Sequence

from pytree_course.checking.comparison import agree, compare
from pytree_course.checking.reasons.counts import direction, name_of_count, name_of_offset
from pytree_course.checking.reasons.evidence import Evidence, in_cases
from pytree_course.checking.reasons.node_children import items_clause, keys_clause
from pytree_course.checking.reasons.places import (
    are_alike,
    children_of,
    differing_keys,
    is_node,
    keys_of,
    kind_of,
    narrowed,
)
from pytree_course.checking.reasons.spectrum import only_here, written_order
from pytree_course.checking.reasons.wrong_leaves import leaves_clause
from pytree_course.observations import Observation
from pytree_course.texts import counted

GIVES_BACK = "returns an input unchanged"


def difference_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence on what is the same in all wrong results, or an empty text."""
    wrong = [case for case in cases if case.failed and not case.raised]
    if not wrong or any(case.got["kind"] == "not attempted" for case in wrong):
        return ""
    silent = [case for case in wrong if case.should_raise]
    if 2 * len(silent) >= len(wrong):
        return _nothing_raised(silent) + only_here(silent, cases)
    wrong = [case for case in wrong if not case.should_raise]
    where = f"Wherever your result is wrong ({counted(len(wrong), 'case', 'cases')})"
    if whole := _whole(cases, wrong):
        return _sentence(f"{where}, ", whole)
    inner, entry = narrowed(wrong)
    others = [case for case in cases if not case.failed] if not entry else []
    clause = _ordered(_result([*others, *inner], inner), cases)
    if entry:
        which = f"Only the entry `{entry}` of the result is wrong, {in_cases(wrong)}"
        return _sentence(f"{which}: ", clause) if clause else f"{which}."
    return _sentence(f"{where}, ", clause) if clause else _entries(wrong)


def one_difference(cases: Sequence[Evidence]) -> str:
    """Return a sentence on the result in the smallest failing case, or an empty text."""
    wrong = [case for case in cases if case.failed and not (case.raised or case.should_raise)]
    if not wrong:
        return ""
    smallest = min(wrong, key=lambda case: len(json.dumps(case.inputs)))
    clause = _ordered(_result([smallest], [smallest]), cases)
    where = f"In the smallest of {len(wrong)} cases" if len(wrong) > 1 else "In the one case"
    return _sentence(f"{where} in which your result is wrong, ", clause) if clause else ""


def _ordered(clause: str, cases: Sequence[Evidence]) -> str:
    is_order = clause.endswith(("in another order", "in reverse order", "in each other's places"))
    return f"{clause}{written_order(cases)}" if is_order else clause


def _sentence(opening: str, clause: str) -> str:
    """Make a sentence: a clause that has no subject yet speaks of the result."""
    has_subject = clause.startswith(
        ("it ", "its ", "each ", "the wrong ", "your ", "some of ", "what is ")
    )
    subject = "" if has_subject else "it is "
    return f"{opening}{subject}{clause.removesuffix(',')}{'' if clause.endswith('?') else '.'}"


def _nothing_raised(silent: Sequence[Evidence]) -> str:
    kinds = {case.got["kind"] for case in silent}
    instead = "returns a result"
    if kinds == {"none"}:
        instead = "returns `None`"
    elif _are_inputs(silent):
        instead = GIVES_BACK
    elif kinds == {"object"}:
        instead = "makes an object"
    where = in_cases(silent).capitalize()
    types = {case.expected["type"] for case in silent}
    error = types.pop() if len(types) == 1 else "error"
    article = "an" if error[0] in "aeiouAEIOU" else "a"
    return f"{where} {article} {error} should be raised; your code raises no error and {instead}"


def _is_input(case: Evidence) -> bool:
    return any(not compare(given, case.got) for given in case.inputs)


def _are_inputs(cases: Sequence[Evidence]) -> bool:
    # A small number may be equal to an input by chance.
    kinds = {case.got["kind"] for case in cases}
    return bool(kinds & {"node", "array", "container leaf"}) and all(map(_is_input, cases))


def _whole(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on the results as wholes."""
    if all(case.got["kind"] == "none" for case in wrong):
        return "it is `None`: does your function reach a `return` in every case?"
    if all(case.changed for case in wrong) and not any(
        case.changed for case in cases if not case.failed
    ):
        return "your code has changed its input in place; it should make a new tree"
    if _are_inputs(wrong):
        how = leaves_clause((), wrong)
        return how if "dtype" in how else "it is an input, unchanged"
    results = [case.got for case in cases if not case.raised]
    if (
        results[0].get("type") != "bool"
        and len(wrong) > 1
        and len(results) > 2
        and agree(results[1:], results[:-1])
    ):
        if any(not compare(given, results[0]) for given in cases[0].inputs):
            return ""
        return "it is the same as in all other cases, whatever the input"
    return ""


def _result(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on results, or on the one entry of them that is wrong."""
    return (
        _kind(wrong)
        or _count(cases, wrong)
        or items_clause(cases, wrong)
        or keys_clause(wrong)
        or leaves_clause(cases, wrong)
    )


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
        inside = ", but its items are right" if right_inside else ""
        return f"{got} where the task asks for {expected}{inside}"
    if len({got for _, got in kinds}) == 1:
        return f"{kinds.pop()[1]} where the task asks for something else"
    if len({expected for expected, _ in kinds}) == 1:
        return f"not {kinds.pop()[0]}, which the task asks for"
    return "of another kind than the task asks for"


def _count(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on whole numbers."""
    if not all(_is_int(case.expected) and _is_int(case.got) for case in wrong):
        return ""
    counting = [case for case in cases if _is_int(case.expected) and _is_int(case.got)]
    offsets = [case.got["value"] - case.expected["value"] for case in counting]
    if name := name_of_count(counting, [case.got["value"] for case in counting]):
        return f"the number of {name}"
    where = direction(offsets)
    if where and (name := name_of_offset(counting, offsets)):
        return f"{where} by the number of {name}"
    if where and len(wrong) > 1 and {abs(offset) for offset in offsets} - {0} == {1}:
        return f"{where} by one"
    return where


def _is_int(observation: Observation) -> bool:
    return observation["kind"] == "number" and type(observation["value"]) is int


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
        f"Of the result, the entries {listed} are wrong, {in_cases(wrong)}; the other entries are "
        "right."
    )
