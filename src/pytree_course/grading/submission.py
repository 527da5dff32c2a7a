"""Read an untrusted notebook and find the answers in it."""

import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytree_course.course import CourseError, answer_id
from pytree_course.grading.limits import ANSWER_CHARACTERS, NOTEBOOK_BYTES, NOTEBOOK_ENTRIES

# Windows has neither, and no FIFOs in folders.
_NO_TRAP = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class UnreadableError(CourseError):
    """A file that was handed in cannot be read; the message tells a teacher why."""


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Read a regular file; an UnreadableError says why that cannot be done.

    A link may lead to somebody else's work, a FIFO waits for ever, a device may never end, and
    some do something when they are only opened.
    """
    try:
        _require_regular(file, os.lstat(file))
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | _NO_TRAP)) as opened:
            # It may have been replaced since.
            size = _require_regular(file, os.fstat(opened.fileno()))
            content = opened.read(most_bytes + 1) if size <= most_bytes else b""
    except FileNotFoundError:
        raise UnreadableError(f"{file} does not exist") from None
    except OSError as error:
        raise UnreadableError(
            f"{file} cannot be read ({error.strerror}): see that you have the right to read it"
        ) from error
    if max(size, len(content)) > most_bytes:
        raise UnreadableError(
            f"{file} is larger than {most_bytes / 1e6:g} MB: clear the outputs of its cells"
        )
    return content


def _require_regular(file: Path, status: os.stat_result) -> int:
    """Return a file's size; refuse what is no regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return status.st_size
    kinds = {stat.S_ISLNK: "a link", stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a FIFO"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device or a socket")
    raise UnreadableError(f"{file} is {kind}, and no file: ask for the notebook itself")


_DEFINITION = re.compile(r"^(?:(?:async +)?def +|class +|(?=\w+ *(?::[^=\n]*)?=[^=]))(\w+)", re.M)
_MARKS = (("id",), ("metadata", "id"), ("metadata", "nbgrader", "grade_id"))


@dataclass(frozen=True)
class Submission:
    """What was handed in: the answers that differ from their starters, by exercise."""

    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # what was odd about an answer cell
    has_answer_cells: bool = True  # any at all, changed or not


def read_submission(file: Path, starters: dict[str, str]) -> Submission:
    """Find the answers in the user's own notebook file, which may be a link."""
    return find_answers(read_notebook(file.resolve()), starters)


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a notebook as JSON; an UnreadableError says why that cannot be done."""
    text = read_regular(file, NOTEBOOK_BYTES).decode("utf-8-sig", "replace")
    if not text.strip():
        raise UnreadableError(f"{file} is empty")
    if sum(map(text.count, ",[{")) > NOTEBOOK_ENTRIES:
        raise UnreadableError(
            f"{file} has more than {NOTEBOOK_ENTRIES:,} entries: clear the outputs of its cells"
        )
    try:
        # No number in it counts, and Python refuses to read those of thousands of digits.
        notebook = json.loads(text, parse_int=str)
    except ValueError as error:
        raise UnreadableError(f"{file} is not a notebook: {error}") from error
    except RecursionError:
        raise UnreadableError(f"{file} is not a notebook: it is nested too deep") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UnreadableError(f"{file} has no cells: save it as a notebook of format 4.5 or later")
    return notebook


def find_answers(notebook: dict[str, Any], starters: dict[str, str]) -> Submission:
    """Find the answers in a notebook, given as untrusted JSON, by the starters of the exercises.

    Only answer cells count; anything else in the notebook may be missing, moved, doubled or
    changed. A program that saves an older format drops the ids, as Colab does, which keeps them in
    the metadata, and the next one makes new ones; a copied cell gets a new one too. So each cell is
    known by the first of its marks that names an answer cell: its id, or nbgrader's name of it.
    An exercise whose cell is missing, as after a merge, is looked for by the names that it defines.
    """
    sources: dict[str, list[str]] = {answer_id(exercise): [] for exercise in starters}
    all_code = []
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        all_code.append(_source(cell))
        marks = (_at(cell, path) for path in _MARKS)
        mark = next((each for each in marks if isinstance(each, str) and each in sources), None)
        if mark is not None:
            sources[mark].append(all_code[-1])
    has_answer_cells = any(sources.values())
    answers, notes = {}, {}
    for exercise, starter in starters.items():
        cells, note = sources[answer_id(exercise)], ""
        if not cells:
            note = "its answer cell is not in the notebook"
            names = _defined_names(starter)
            others = [code for code in all_code if names and names <= _defined_names(code)]
            if others and has_answer_cells:
                cells = others[-1:]
                note += f"; another cell that defines {', '.join(sorted(names))} counts"
        worked_in = [source for source in cells if source.strip() != starter.strip()]
        parts = _parts_in_force(worked_in, starter)
        if len(cells) > 1:
            which = "the last one counts" if len(parts) < 2 else f"the last {len(parts)} count"
            note = f"its answer cell is there {len(cells)} times; {which}"
        answer = "\n".join(parts)
        if len(answer) > ANSWER_CHARACTERS:
            note = (
                f"its answer cell holds {len(answer):,} characters, more than the "
                f"{ANSWER_CHARACTERS:,} that may run"
            )
        elif parts:
            answers[exercise] = answer
        if note:
            notes[exercise] = note
    return Submission(answers, notes, has_answer_cells)


def _parts_in_force(sources: list[str], starter: str) -> list[str]:
    """Return those of an exercise's cells that make up its answer, in order.

    The last cell that defines all names of the starter is a whole answer, and what comes before it
    earlier tries. Cells that define them only together, or none of them, are one that was split.
    """
    names = _defined_names(starter)
    parts: list[str] = []
    for source in reversed(sources):
        is_whole = names <= _defined_names(source)
        is_complete = names <= _defined_names("\n".join(parts))
        if parts and is_complete and is_whole:
            break
        parts.insert(0, source)
    return parts


def _defined_names(code: str) -> set[str]:
    """Return the names that code defines at its top level, as far as its text shows."""
    return set(_DEFINITION.findall(code))


def _at(cell: Any, path: tuple[str, ...]) -> object:
    """Return the value at a path of keys in untrusted JSON, or None."""
    for name in path:
        cell = cell.get(name) if isinstance(cell, dict) else None
    return cell


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    # A lone surrogate is valid in JSON, but has no UTF-8 encoding.
    return text.encode("utf-8", "replace").decode("utf-8")
