"""Observations, which `trees` makes: their form, their limits, and how to walk through one."""

import re
from collections.abc import Iterator
from typing import Any

Observation = dict[str, Any]
"""Plain JSON whose entry "kind" says what was seen; `untrusted` reads all its kinds."""

Path = tuple[str, ...]
"""The way from a tree's root to a node or leaf: the texts of its key path entries."""

NO_DICT = "not a dict"
"""The value observed in every case of an exercise that asks for a dict of predictions, if the
answer is not a dict."""

MAX_NODES = 20_000
MAX_NODES_TO_DRAW = 40_000  # 10,000 leaves, with the nodes above them, are drawn in half a second
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
MAX_CHARACTERS = 10_000
MAX_INT_BITS = 4_096

# Half a surrogate pair is no character to UTF-8, and the others are none to XML, to some databases
# or to terminals, which obey them.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def writable(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return at most `most` characters of a text, with those escaped that not every file holds."""
    text = text[:most]
    if text.isprintable():  # as nearly all are; nothing unwritable is, and the search takes longer
        return text
    return _UNWRITABLE.sub(_escaped, text)[:most]


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def all_parts(observation: Observation) -> Iterator[tuple[Path, Observation]]:
    """Yield an observation and all below it, each with its path, in JAX's order."""
    waiting: list[tuple[Path, Observation]] = [((), observation)]
    while waiting:  # no recursion: an untrusted tree may be deeper than Python's stack
        path, seen = waiting.pop()
        yield path, seen
        if seen["kind"] == "node":
            waiting += [((*path, key), child) for key, child in reversed(seen["children"])]


def all_leaves(observation: Observation) -> Iterator[tuple[Path, Observation]]:
    """Yield the leaves, each with its path, in JAX's order."""
    for path, seen in all_parts(observation):
        if seen["kind"] not in ("node", "none") or seen.get("leaf"):
            yield path, seen


def count_leaves(observation: Observation) -> int:
    """Count the leaves of a tree."""
    return sum(1 for _ in all_leaves(observation))
