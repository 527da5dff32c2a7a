"""Flattening and unflattening, one node at a time, through JAX's own registry."""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import jax

from pytree_course.drawing.labels import expression, shorten, summary
from pytree_course.trees import Level, Observation, Path, flatten_one_level, observe
from pytree_course.widgets.trouble import said, without_addresses

LONGEST_TEXT = 120
NOT_YET = "…"

Half = Literal["flatten", "unflatten"]


@dataclass(frozen=True)
class Step:
    """One step of the way.

    Attributes
    ----------
    half
        The way down or the way back.
    title
        What happens, in one sentence; text between backticks is code.
    path
        Where it happens; None at the beginning and the ends.
    facts
        What is given and what comes out: label and code.
    faded
        Paths of what is in pieces at this moment.
    leaves
        The leaves in the list so far: a few words for each.
    used
        How many of them are in their places again.
    structure
        The treedef's text, as far as it is known.
    failed
        Whether a function of a custom node raised; then this is the last step.
    """

    half: Half
    title: str
    path: Path | None
    facts: tuple[tuple[str, str], ...]
    faded: frozenset[Path]
    leaves: tuple[str, ...]
    used: int
    structure: str
    failed: bool = False


@dataclass
class _Visit:
    """One node, leaf or None, as it was found on the way down."""

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

    @property
    def is_custom(self) -> bool:
        known = type(self.value) in (dict, list, tuple, OrderedDict, defaultdict, type(None))
        return not known and not hasattr(self.value, "_fields")


def walk(tree: object) -> list[Step]:
    """Flatten a tree and put it together again, noting each step.

    A custom node's own functions are called. What they raise is the last step.
    """
    return list(_Walk(tree).steps())


class _Walk:
    def __init__(self, tree: object) -> None:
        self.root = _Visit((), tree)
        self.leaves: list[_Visit] = []
        self.seen: list[Path] = []
        self.used = 0
        self.is_whole = True  # until a function of a custom node raises

    def steps(self) -> Iterator[Step]:
        yield self.step("flatten", "The tree is whole. The list is empty, the structure unknown.")
        yield from self.down(self.root)
        if not self.is_whole:
            return
        count = len(self.leaves)
        yield self.step(
            "flatten",
            f"Flattened: {count} {'leaf' if count == 1 else 'leaves'} in a list, and a treedef.",
            facts=(("in JAX", "leaves, treedef = jax.tree.flatten(tree)"),),
            faded=self.seen,
        )
        built: list[Any] = []
        yield from self.up(self.root, set(self.seen), built)
        if self.is_whole:
            yield self.end(built[0])

    def down(self, visit: _Visit) -> Iterator[Step]:
        """Flatten a node and all below it, in the order in which JAX does."""
        before = frozenset(self.seen)
        try:
            visit.level = flatten_one_level(visit.value)
        except Exception as error:
            self.is_whole = False
            title = f"Flatten the `{visit.name}` {visit.where}: it failed."
            yield self.step("flatten", title, visit, (("It raised", said(error)),), failed=True)
            return
        visit.is_seen = True
        self.seen.append(visit.path)
        if visit.level is None:
            visit.place = len(self.leaves)
            self.leaves.append(visit)
            title = f"A leaf {visit.where}. It goes into the list, at place {visit.place}."
            yield self.step("flatten", title, visit, faded=before)
            return
        visit.children = [_Visit((*visit.path, key), child) for key, child in visit.level.children]
        if visit.value is None:
            title = f"`None` {visit.where}: a node without children. Nothing goes into the list."
            yield self.step("flatten", title, visit, faded=before)
            return
        by = "its own flatten function gives:" if visit.is_custom else "JAX takes out:"
        facts = (("children", _children(visit)), ("aux_data", _aux(visit)))
        title = f"Flatten the `{visit.name}` {visit.where}: {by}"
        yield self.step("flatten", title, visit, facts, before)
        for child in visit.children:
            yield from self.down(child)
            if not self.is_whole:
                return

    def up(self, visit: _Visit, pieces: set[Path], built: list[Any]) -> Iterator[Step]:
        """Unflatten all below a node, and then the node; what comes out goes to `built`."""
        if visit.level is None:
            pieces.discard(visit.path)
            built.append(visit.value)
            self.used = visit.place + 1
            title = f"A leaf {visit.where}: the next one in the list, from place {visit.place}."
            yield self.step("unflatten", title, visit, faded=pieces)
            return
        parts: list[Any] = []
        for child in visit.children:
            yield from self.up(child, pieces, parts)
            if not self.is_whole:
                return
        pieces.discard(visit.path)
        given: tuple[tuple[str, str], ...] = (
            ("aux_data", _aux(visit)),
            ("children", f"({', '.join(map(_written, parts))}{',' * (len(parts) == 1)})"),
        )
        by = "its own unflatten function is given:" if visit.is_custom else "JAX is given:"
        title = f"Unflatten the `{visit.name}` {visit.where}: {by}"
        if visit.value is None:
            title, given = f"`None` {visit.where}, as the structure says: no leaf is used.", ()
        try:
            made = jax.tree.unflatten(visit.level.treedef, parts)
        except Exception as error:
            self.is_whole = False
            facts = (*given, ("It raised", said(error)))
            yield self.step("unflatten", title, visit, facts, pieces, failed=True)
            return
        built.append(made)
        facts = (*given, ("comes out", _written(made))) if given else ()
        yield self.step("unflatten", title, visit, facts, pieces)

    def end(self, made: object) -> Step:
        """Say whether what came out is what went in."""
        was, now = (observe(each, values=False) for each in (self.root.value, made))
        if was == now:
            code = "jax.tree.unflatten(treedef, leaves)"
            title = "The tree is whole again."
            return self.step("unflatten", title, facts=(("in JAX", code),))
        facts = (("went in", expression(was)), ("came out", expression(now)))
        title = "What came out is not what went in: flatten and unflatten do not fit together."
        return self.step("unflatten", title, facts=facts)

    def step(
        self,
        half: Half,
        title: str,
        visit: _Visit | None = None,
        facts: tuple[tuple[str, str], ...] = (),
        faded: Collection[Path] = (),
        failed: bool = False,
    ) -> Step:
        path = visit.path if visit else None
        words = tuple((label, without_addresses(shorten(code, 240))) for label, code in facts)
        leaves = tuple(_summary(each.value) for each in self.leaves)
        structure = f"PyTreeDef({_structure(self.root)})"
        return Step(
            half, title, path, words, frozenset(faded), leaves, self.used, structure, failed
        )


def _children(visit: _Visit) -> str:
    assert visit.level is not None
    shown = [f"{key} → {_summary(child)}" for key, child in visit.level.children[:8]]
    more = len(visit.level.children) - len(shown)
    return ", ".join(shown) + (f", … {more} more" if more else "") or "none"


def _aux(visit: _Visit) -> str:
    assert visit.level is not None
    return _written(visit.level.aux)


def _written(value: object) -> str:
    seen = _observed(value)
    aux = f" with aux_data {expression(seen['aux'])}" if seen.get("custom") else ""
    return shorten(expression(seen) + aux, LONGEST_TEXT)


def _summary(value: object) -> str:
    return summary(_observed(value))


def _observed(value: object) -> Observation:
    return observe(value, values=False)


def _structure(visit: _Visit) -> str:
    """Write a node's part of the treedef as JAX does, with what is not yet known left open."""
    if not visit.is_seen:
        return NOT_YET
    if visit.level is None:
        return "*"
    whole = str(visit.level.treedef).removeprefix("PyTreeDef(").removesuffix(")")
    inside = [_structure(child) for child in visit.children]
    if type(visit.value) is dict:
        pairs = zip(visit.level.aux, inside, strict=True)
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
    # JAX writes the children last, each as a star: these are put in place of the stars.
    stars = ", ".join("*" * len(inside))
    before, _, after = whole.rpartition(stars) if stars else (whole, "", "")
    return without_addresses(before + ", ".join(inside) + after)
