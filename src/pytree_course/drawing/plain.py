"""Trees as indented text, for terminals, screen readers and notebooks without pictures."""

from pytree_course.drawing.items import Item, items
from pytree_course.observing.observations import Observation, Path


def text(observation: Observation, *, marked: Path | None = None) -> str:
    """Draw an observation as text, one line per node and leaf; `marked` as for `svg`."""
    return as_lines(items(observation, marked))


def as_lines(root: Item) -> str:
    """Write an item and those below it, one line for each."""
    return "\n".join([_words(root), *_lines(root, "")])


def _lines(item: Item, indent: str) -> list[str]:
    lines = []
    for child in item.children:
        last = child is item.children[-1]
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{_words(child)}")
        lines += _lines(child, indent + ("   " if last else "│  "))
    return lines


def _words(item: Item) -> str:
    words = f"{item.key}  {item.name}" if item.key else item.name
    if item.notes:
        words += f"  ({'; '.join(item.notes)})"
    return f"{words}  ◀ {item.mark}" if item.mark else words
