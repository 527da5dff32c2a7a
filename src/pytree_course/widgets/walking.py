"""Flattening and unflattening, one node at a time, through JAX's own registry."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import jax

from pytree_course.drawing.labels import expression, summary
from pytree_course.observations import Path
from pytree_course.registry import Level, flatten_one_level
from pytree_course.texts import counted, shorten
from pytree_course.trees import observe
from pytree_course.widgets.value_texts import error_words, without_addresses

LONGEST_TEXT = 120
LONGEST_FACT = 240
NOT_YET = "…"

Half = Literal["flatten", "unflatten"]
Facts = tuple[tuple[str, str], ...]
"""What a function is given and what it returns: pairs of label and code."""


@dataclass(frozen=True)
class Step:
    """One step of flattening or unflattening."""

    half: Half
    title: str  # text between backticks is code
    path: Path | None  # None for the first step and for the last step of each half
    facts: Facts
    faded: frozenset[Path]  # the nodes that are in pieces at this step
    leaves: tuple[str, ...]  # in the list so far, a few words for each
    used: int  # how many of them are in their places again
    structure: str  # the treedef's text, as far as it is known
    failed: bool  # whether a function of a custom node raised: then this is the last step


@dataclass
class _Visit:
    """One node, leaf or None, as flattening found it."""

    path: Path
    value: Any
    level: Level | None = None  # None for a leaf
    children: list["_Visit"] = field(default_factory=list)
    place: int = 0  # a leaf's place in the list
    is_seen: bool = False

    @property
    def where(self) -> str:
        return f"at `{shorten(''.join(self.path), LONGEST_TEXT)}`" if self.path else "at the root"

    @property
    def name(self) -> str:
        return type(self.value).__name__


class _FailedError(Exception):
    """A function of a custom node raised: there is no further step."""


def walk(tree: object) -> list[Step]:
    """Flatten a tree and put it together again, noting each step.

    A custom node's own functions are called. What they raise is the last step.
    """
    way = _Walk(tree)
    with suppress(_FailedError):
        way.go()
    return way.steps


class _Walk:
    def __init__(self, tree: object) -> None:
        self.half: Half = "flatten"
        self.root = _Visit((), tree)
        self.steps: list[Step] = []
        self.leaves: list[_Visit] = []
        self.in_pieces: set[Path] = set()
        self.used = 0

    def go(self) -> None:
        self.note("The tree is whole. The list is empty, and the structure is not known.")
        self.down(self.root)
        title = (
            f"Flattened: {counted(len(self.leaves), 'leaf', 'leaves')} in a list, and a treedef."
        )
        self.note(title, facts=(("in JAX", "leaves, treedef = jax.tree.flatten(tree)"),))
        self.half = "unflatten"
        self.compare(self.up(self.root))

    def down(self, visit: _Visit) -> None:
        """Flatten a node and all below it, in the order in which JAX does."""
        with self.last_if_raised(f"Flatten the `{visit.name}` {visit.where}: this failed.", visit):
            level = visit.level = flatten_one_level(visit.value)
        visit.is_seen = True
        facts: Facts = ()
        if level is None:
            visit.place = len(self.leaves)
            self.leaves.append(visit)
            title = (
                f"A leaf {visit.where}. JAX puts the leaf into the list, at place {visit.place}."
            )
        elif visit.value is None:
            title = f"`None` {visit.where}: a node without children. Nothing goes into the list."
        else:
            visit.children = [_Visit((*visit.path, key), child) for key, child in level.children]
            is_own = level.is_custom
            by = "the flatten function of the class returns:" if is_own else "JAX takes out:"
            title = f"Flatten the `{visit.name}` {visit.where}: {by}"
            facts = (("children", _children(level)), ("aux_data", _in_full(level.aux)))
        self.note(title, visit, facts)
        self.in_pieces.add(visit.path)
        for child in visit.children:
            self.down(child)

    def up(self, visit: _Visit) -> Any:
        """Unflatten all below a node, and then the node, which is returned."""
        parts = [self.up(child) for child in visit.children]
        self.in_pieces.discard(visit.path)
        level = visit.level
        if level is None:
            self.used = visit.place + 1
            title = f"A leaf {visit.where}: the next leaf in the list, from place {visit.place}."
            self.note(title, visit)
            return visit.value
        by = "the unflatten function of the class gets:" if level.is_custom else "JAX gets:"
        title = f"Unflatten the `{visit.name}` {visit.where}: {by}"
        children = f"({', '.join(map(_in_full, parts))}{',' * (len(parts) == 1)})"
        given: Facts = (("aux_data", _in_full(level.aux)), ("children", children))
        if visit.value is None:
            title, given = f"`None` {visit.where}, as the structure says: no leaf is used.", ()
        with self.last_if_raised(title, visit, given):
            made = jax.tree.unflatten(level.treedef, parts)
        self.note(title, visit, (*given, ("comes out", _in_full(made))) if given else ())
        return made

    def compare(self, made: object) -> None:
        """Say whether what came out is what went in."""
        was, now = (observe(each, values=False) for each in (self.root.value, made))
        if was == now:
            title = "The tree is whole again."
            facts: Facts = (("in JAX", "jax.tree.unflatten(treedef, leaves)"),)
        else:
            title = (
                "The new tree is not the same as the old tree: flatten and unflatten do not fit "
                "together."
            )
            facts = (("went in", expression(was)), ("came out", expression(now)))
        self.note(title, facts=facts)

    @contextmanager
    def last_if_raised(self, title: str, visit: _Visit, facts: Facts = ()) -> Iterator[None]:
        """Note what a custom node's own function raises, and end the walk with it."""
        try:
            yield
        except Exception as error:
            self.note(title, visit, (*facts, ("It raised", error_words(error))), failed=True)
            raise _FailedError from None

    def note(
        self, title: str, visit: _Visit | None = None, facts: Facts = (), failed: bool = False
    ) -> None:
        path = visit.path if visit else None
        cut = [(label, without_addresses(shorten(code, LONGEST_FACT))) for label, code in facts]
        leaves = tuple(_summary(leaf.value) for leaf in self.leaves)
        structure = f"PyTreeDef({_structure(self.root)})"
        seen = (path, tuple(cut), frozenset(self.in_pieces), leaves, self.used, structure, failed)
        self.steps.append(Step(self.half, title, *seen))


def _children(level: Level) -> str:
    shown = [f"{key} → {_summary(child)}" for key, child in level.children[:8]]
    more = len(level.children) - len(shown)
    return ", ".join(shown) + (f", … {more} more" if more else "") or "none"


def _in_full(value: object) -> str:
    seen = observe(value, values=False)
    aux = f" with aux_data {expression(seen['aux'])}" if seen.get("custom") else ""
    return shorten(expression(seen) + aux, LONGEST_TEXT)


def _summary(value: object) -> str:
    return summary(observe(value, values=False))


def _structure(visit: _Visit) -> str:
    """Write a node's part of the treedef as JAX does, with what is not yet known left open."""
    if not visit.is_seen:
        return NOT_YET
    if visit.level is None:
        return "*"
    whole = str(visit.level.treedef).removeprefix("PyTreeDef(").removesuffix(")")
    inside = [_structure(child) for child in visit.children]
    if visit.level.type is dict:
        pairs = zip(visit.level.aux, inside, strict=True)
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
    # JAX writes the children last, each as a star: these are put in place of the stars.
    stars = ", ".join("*" * len(inside))
    before, _, after = whole.rpartition(stars) if stars else (whole, "", "")
    return without_addresses(before + ", ".join(inside) + after)
