"""What the cells of a kernel did: which names each defined, and whose last run failed."""

import re
from collections.abc import Iterable
from typing import Any

_DEFINED = re.compile(r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]*)?=(?!=)", re.M)
"""What a cell would define at its top level; a cell with a syntax error can't be parsed."""

_failed: set[str] = set()
"""Names whose definition is older than the last run of their cell, because that run failed."""

_defined_by: dict[str, list[str]] = {}
"""Names that the last run of a cell defined, by the cell's id, where the front end tells it."""


def watch(shell: Any) -> None:
    """Note from now on what each cell of a kernel does."""
    before: dict[str, Any] = {}

    def before_cell(_: Any) -> None:
        before.update(shell.user_ns)

    def after_cell(result: Any) -> None:
        source = result.info.raw_cell or ""
        names = {function or variable for function, variable in _DEFINED.findall(source)}
        names_now = shell.user_ns
        made = {name for name in names if name in names_now}
        made -= {name for name in made if name in before and names_now[name] is before[name]}
        before.clear()
        _failed.difference_update(made)
        if not result.success:
            _failed.update(names - made)
        if cell_id := getattr(result.info, "cell_id", None):
            _defined_by[cell_id] = sorted(made)

    shell.events.register("pre_run_cell", before_cell)
    shell.events.register("post_run_cell", after_cell)


def are_stale(names: Iterable[str]) -> bool:
    """Say whether a definition of one of these names is older than its cell's last run."""
    return not _failed.isdisjoint(names)


def defined_by(cell_id: str) -> list[str]:
    """Return the names that the last run of a cell defined; none if it was not run."""
    return _defined_by.get(cell_id, [])
