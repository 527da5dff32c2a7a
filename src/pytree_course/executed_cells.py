"""The cells that a kernel has run: what they defined, and which are a lesson's own.

This is known where the course has prepared the kernel (`pytree_course.ipython`).
"""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from pytree_course.built import MEANT_TO_FAIL, our_version_id
from pytree_course.course import Course
from pytree_course.texts import defined_names

CHECK_CALL = re.compile(r"\bcheck\.(?P<exercise>\w+)\s*\(")


class ExecutedCell(NamedTuple):
    """A cell that was run."""

    id: str | None  # if the front end sends ids
    source: str


_defining_cells: dict[str, ExecutedCell] = {}
"""The cell that last defined a name, or imported it."""

_stale_names: set[str] = set()
"""Names that have kept an earlier value, because the last run of their cell failed."""


def record_definitions(shell: Any) -> None:
    """Start recording which cells define names, and which names are stale."""
    before: dict[str, Any] = {}

    def remember_values(_: Any) -> None:
        before.update(shell.user_ns)

    def record(result: Any) -> None:
        cell = ExecutedCell(getattr(result.info, "cell_id", None), result.info.raw_cell or "")
        in_source = defined_names(cell.source)
        changed = {
            name
            for name, value in shell.user_ns.items()
            if name not in before or value is not before[name]
        }
        before.clear()
        if result.success:
            _stale_names.difference_update(in_source)
        else:  # it may have defined some of its names before it failed
            _stale_names.difference_update(changed)
            _stale_names.update(in_source - changed)
        _defining_cells.update(dict.fromkeys(changed, cell))

    shell.events.register("pre_run_cell", remember_values)
    shell.events.register("post_run_cell", record)


def is_any_stale(names: Iterable[str]) -> bool:
    """Return whether one of these names is stale: the last run of its cell failed."""
    return not _stale_names.isdisjoint(names)


def is_our_version(exercise: str, names: Iterable[str]) -> bool:
    """Return whether a lesson's own version of an exercise has replaced the reader's answer."""
    return any(cell.id == our_version_id(exercise) for cell in defining_cells(names))


def defining_cells(names: Iterable[str]) -> list[ExecutedCell]:
    """Return the cells that last defined these names, each once."""
    return list(dict.fromkeys(_defining_cells[name] for name in names if name in _defining_cells))


def names_defined_by(cell_id: str) -> list[str]:
    """Return the names that a cell defines in its source, and that it was the last to define."""
    return [
        name
        for name, cell in sorted(_defining_cells.items())
        if cell.id == cell_id and name in defined_names(cell.source)
    ]


def is_meant_by_lesson(source: str) -> bool:
    """Return whether a source is an unchanged cell of a lesson that raises an error on purpose."""
    try:
        return any(
            "".join(cell["source"]) == source and MEANT_TO_FAIL in cell["metadata"].get("tags", ())
            for file in (Course.of_notebook().root / "notebooks").rglob("*.ipynb")
            for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]
        )
    except Exception:
        return False  # no course here, or a damaged notebook: the error must still be shown
