"""The roster of a class, and the CSV files that a teacher gives."""

import codecs
import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pytree_course.class_grading.downloads import CANVAS, Submitter
from pytree_course.course import CourseError

_CANVAS_COLUMN = re.compile(r".*\s\(\d+\)")
_TOTALS = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")


def read_csv(file: Path, columns: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Read a CSV file: its column names, and its rows by the number of their last line.

    Spaces around cells are removed. Excel's files are supported: with semicolons or tabs, and in
    the encodings of Windows. A CourseError says that it should have `columns`.
    """
    rows: dict[int, dict[str, str]] = {}
    try:
        text = _decode(file.read_bytes())
        header, _, _ = text.partition("\n")
        separator = max(",;\t", key=header.count)
        lines = StringIO(text, newline="")
        reader = csv.DictReader(lines, restval="", delimiter=separator, strict=True)
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        for row in reader:
            if any(cell.strip() for cell in row.pop(None, ())):
                raise csv.Error("it has more cells than there are columns: quote text with commas")
            rows[reader.line_num] = {name: cell.strip() for name, cell in row.items()}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        next_line = max(rows, default=1) + 1  # after the last row that was read
        position = f" from line {next_line} on" if isinstance(error, csv.Error) else ""
        advice = f"It should be a CSV file with the columns {columns}."
        raise CourseError(f"{file} cannot be read{position}: {error}. {advice}") from error
    return names, rows


def _decode(data: bytes) -> str:
    """Decode a CSV file from UTF-8, Excel's UTF-16 or the encoding of Windows in western Europe.

    Letters and accents are composed, as in all names of students.
    """
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    return unicodedata.normalize("NFC", text)


@dataclass(frozen=True)
class RosterEntry:
    """A student on the roster."""

    student: str  # the folder's name; the login in Canvas, the username in Moodle
    name: str = ""
    canvas_id: str = ""
    group: str = ""


def match_roster(
    roster: Sequence[RosterEntry], submitters: Iterable[Submitter]
) -> dict[str, RosterEntry]:
    """Match submitters to roster entries; return the entries by the submitters' ids.

    Match by Canvas's id or the folder's name; otherwise by the words of the full name, in any
    order. A name that several entries or several submitters have matches nobody.
    """
    by_login = {entry.student: entry for entry in roster}
    by_canvas_id = {entry.canvas_id: entry for entry in roster if entry.canvas_id}
    matched = {}
    submitters_by_key = defaultdict(list)
    for submitter in submitters:
        by_id = by_canvas_id if submitter.system == CANVAS else by_login
        if entry := by_id.get(submitter.id):
            matched[submitter.id] = entry
        elif submitter.system:  # otherwise the id is a folder's name, which is no full name
            submitters_by_key[_name_key(submitter)].append(submitter)
    entries_by_key = defaultdict(list)
    for entry in {*roster} - {*matched.values()}:
        for key in _possible_keys(entry):
            entries_by_key[key].append(entry)
    for key, namesakes in submitters_by_key.items():
        entries = entries_by_key[key]
        if len(namesakes) == 1 and len(entries) == 1:
            matched[namesakes[0].id] = entries[0]
    return matched


def read_roster(file: Path) -> list[RosterEntry]:
    """Read a CSV file with the columns student, name, canvas_id and group, or Canvas's export.

    All columns but the first are optional.
    """
    names, lines = read_csv(file, "student and name")
    rows = list(lines.values())
    columns = ("student", "name", "canvas_id", "group")
    if {"Student", "ID"} <= {*names}:
        # Skip Canvas's test student, and its second line, which has the points.
        rows = [row for row in rows if row["ID"] and row["Student"] != "Student, Test"]
        login = "SIS Login ID" if "SIS Login ID" in names else "ID"
        columns = (login, "Student", "ID", "group")
    if columns[0] not in names:
        raise CourseError(
            f"{file} needs a first line `student,name`, then a line for each student. "
            f"Its columns are: {', '.join(names)}."
        )
    cells = [[row.get(column, "") for column in columns] for row in rows]
    entries = [RosterEntry(*row) for row in cells if row[0]]
    if not entries:
        raise CourseError(f"{file} has no line with a student.")
    logins = [entry.student for entry in entries]
    ids = [f"ID {entry.canvas_id}" for entry in entries if entry.canvas_id]
    repeated = [name for name, count in Counter(logins + ids).items() if count > 1]
    if repeated:
        students = ", ".join(repeated)
        raise CourseError(f"{file} has {students} more than once: leave one line of each.")
    return entries


def read_canvas_columns(file: Path) -> list[str]:
    """Return the columns of assignments in Canvas's export, such as `Homework 1 (123)`."""
    names, _ = read_csv(file, "student and name")
    return [name for name in names if _CANVAS_COLUMN.fullmatch(name) and not _TOTALS.search(name)]


def name_words(name: str) -> list[str]:
    """Return a name's words without punctuation, which platforms remove, as in O'Brien."""
    words = (re.sub(r"[\W_]", "", word) for word in re.split(r"[\s,]+", name.casefold()))
    return [word for word in words if word]


def _name_key(submitter: Submitter) -> str:
    """Return a submitter's name in the form in which names are compared."""
    if submitter.system == CANVAS:  # it removes the spaces
        return "".join(name_words(submitter.name))
    return " ".join(sorted(name_words(submitter.id)))


def _possible_keys(entry: RosterEntry) -> set[str]:
    """Return every key that the submitter may have who is this student."""
    words = name_words(entry.name)
    if not words:
        return set()
    keys = {" ".join(sorted(words))}
    if not entry.canvas_id:  # otherwise Canvas's students match by their ids only
        # Canvas writes the last name first, and any word may be where the last name begins.
        keys |= {"".join(words[first:] + words[:first]) for first in range(len(words))}
    return keys
