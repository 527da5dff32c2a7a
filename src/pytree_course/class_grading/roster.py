"""The roster of a class, and the CSV files that a teacher gives."""

import codecs
import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pytree_course.class_grading.downloads import CANVAS, Submitter
from pytree_course.course import CourseError


def read_csv(file: Path, columns: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Read a CSV file: the names in its first line, and the rows below by where they end.

    Blanks around cells are cut off. Excel's files are read too: with semicolons or tabs, and in
    the encodings of Windows.

    Parameters
    ----------
    file
        The file.
    columns
        Its columns, in words, for the message of an error.

    Raises
    ------
    CourseError
        When it cannot be read.
    """
    rows: dict[int, dict[str, str]] = {}
    try:
        text = _decoded(file.read_bytes())
        first, _, _ = text.partition("\n")
        separator = max(",;\t", key=first.count)
        lines = StringIO(text, newline="")
        reader = csv.DictReader(lines, restval="", delimiter=separator, strict=True)
        for row in reader:
            if any(cell.strip() for cell in row.pop(None, ())):
                raise csv.Error("it has more cells than there are columns: quote text with commas")
            rows[reader.line_num] = {name: cell.strip() for name, cell in row.items()}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        begins = max(rows, default=1) + 1
        where = f" from line {begins} on" if isinstance(error, csv.Error) else ""
        raise CourseError(
            f"{file} cannot be read{where}: {error}. It should be a CSV file with the columns "
            f"{columns}."
        ) from error
    return list(reader.fieldnames or ()), rows


def _decoded(data: bytes) -> str:
    """Return a CSV file's text: in UTF-8, in Excel's UTF-16, or as Windows writes it in Europe.

    Letters and accents are composed, as they are in the names of students everywhere here.
    """
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    return unicodedata.normalize("NFC", text)


@dataclass(frozen=True)
class RosterEntry:
    """A student on the list."""

    student: str  # what the folder is called; the login in Canvas, the username in Moodle
    name: str = ""
    canvas_id: str = ""


def match_roster(
    roster: Iterable[RosterEntry], submitters: Iterable[Submitter]
) -> dict[str, RosterEntry]:
    """Return the entries of those who handed in, by their ids; none is guessed.

    Canvas's ids and folders' names match exactly; other students by name, in any order of its
    words, where just one of the list and one of those who handed in have it.
    """
    roster, submitters = list(roster), list(submitters)
    by_login = {entry.student: entry for entry in roster}
    by_canvas_id = {entry.canvas_id: entry for entry in roster if entry.canvas_id}
    matched = {}
    unmatched = defaultdict(list)  # those from a download, by name
    for submitter in submitters:
        by_id = by_canvas_id if submitter.system == CANVAS else by_login
        if entry := by_id.get(submitter.id):
            matched[submitter.id] = entry
        elif submitter.system:
            unmatched[_name_key(submitter)].append(submitter)
    entries = defaultdict(set)  # the others on the list, by name
    for entry in {*roster} - {*matched.values()}:
        for key in _possible_keys(entry):
            entries[key].add(entry)
    for key, namesakes in unmatched.items():
        if len(namesakes) == 1 and len(entries[key]) == 1:
            (matched[namesakes[0].id],) = entries[key]
    return matched


def read_roster(file: Path) -> list[RosterEntry]:
    """Read a CSV file with the columns student, name and canvas_id, or Canvas's export of grades.

    Only the column student has to be there.
    """
    names, lines = read_csv(file, "student and name")
    rows = list(lines.values())
    columns = ("student", "name", "canvas_id")
    if {"Student", "ID"} <= {*names}:
        # Canvas's second line is the points; its test student is no student.
        rows = [row for row in rows if row["ID"] and row["Student"] != "Student, Test"]
        login = "SIS Login ID" if "SIS Login ID" in names else "ID"
        columns = (login, "Student", "ID")
    if not rows or columns[0] not in names:
        raise CourseError(
            f"{file} needs a first line `student,name`, then a line per student. "
            f"Its columns are: {', '.join(names)}."
        )
    cells = [[row.get(column, "") for column in columns] for row in rows]
    entries = [RosterEntry(*row) for row in cells if row[0]]
    logins = [entry.student for entry in entries]
    ids = [f"ID {entry.canvas_id}" for entry in entries if entry.canvas_id]
    repeated = [name for name, count in Counter(logins + ids).items() if count > 1]
    if repeated:
        students = ", ".join(repeated)
        raise CourseError(f"{file} has {students} more than once: leave one line of each.")
    return entries


def _words(name: str) -> list[str]:
    """Return a name's words; LMSs leave out what is no letter, as in O'Brien."""
    words = (re.sub(r"[\W_]", "", word) for word in re.split(r"[\s,]+", name.casefold()))
    return [word for word in words if word]


def _name_key(submitter: Submitter) -> str:
    """Return a student's name as names are compared: Canvas leaves out what is between words."""
    if submitter.system == CANVAS:
        return "".join(_words(submitter.name))
    return " ".join(sorted(_words(submitter.id)))


def _possible_keys(entry: RosterEntry) -> set[str]:
    """Return the keys that a student on the list may have; Canvas begins with the last name."""
    words = _words(entry.name)
    if entry.canvas_id:  # in Canvas it would have matched by that
        return {" ".join(sorted(words))} - {""}
    of_canvas = {"".join(words[first:] + words[:first]) for first in range(len(words))}
    return (of_canvas | {" ".join(sorted(words))}) - {""}
