"""The students of a class: its roster, and who handed in; the CSV files that a teacher gives."""

import codecs
import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from pytree_course.class_grading.downloads import CANVAS, Submitter
from pytree_course.course import CourseError

_CANVAS_COLUMN = re.compile(r".*\s\(\d+\)")
_TOTALS = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how .xlsx, .ods and .xls begin
_FORMULA = re.compile(r"""(^|;)'(?='*[\s"]*[=+@-])""")
"""The apostrophe that the course's own tables put before what a spreadsheet would run."""
_HEADER = re.compile(r'(?im)^(.*[,;\t])?[ "]*(student|identifier)[ "]*([,;\t].*)?$')
"""The line with the columns: a title may stand above it, or Excel's `sep=;`."""


def read_csv(file: Path, columns: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Read a CSV file: its column names, and its rows by the number of their last line.

    Spaces around cells are removed. Excel's files are supported: with semicolons or tabs, and in
    the encodings of Windows; lines above the one with the columns are skipped. A CourseError says
    that it should have `columns`.
    """
    rows: dict[int, dict[str, str]] = {}
    try:
        data = file.read_bytes()
        if data.startswith(_WORKBOOKS):
            raise CourseError(f"{file} is an Excel workbook: save it as CSV, and name that file.")
        text = _decode(data)
        match = _HEADER.search(text)
        start = match.start() if match else 0
        table, lines_above = text[start:], text.count("\n", 0, start)
        header, _, _ = table.partition("\n")
        separator = max(",;\t", key=header.count)
        lines = StringIO(table, newline="")
        reader = csv.DictReader(lines, restval="", delimiter=separator, strict=True)
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        for row in reader:
            if any(cell.strip() for cell in row.pop(None, ())):
                raise csv.Error("it has more cells than there are columns: quote text with commas")
            rows[lines_above + reader.line_num] = {
                name: _FORMULA.sub(r"\1", cell.strip()) for name, cell in row.items()
            }
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
    account: str = ""  # on GitHub
    group: str = ""


@dataclass(frozen=True)
class Student(Submitter):
    """A student who handed in or is on the roster."""

    is_expected: bool = True  # on the roster, if there is one
    login: str = ""  # in Canvas, or Moodle's username; empty if it is not known
    group: str = ""  # on the roster
    group_id: str = ""  # of the submitter under the group's name, if there is one

    @property
    def label(self) -> str:
        """The student's name in tables."""
        return f"{self.name} ({self.login or self.id})" if self.name else self.id


def match_roster(
    roster: Sequence[RosterEntry], submitters: Iterable[Submitter]
) -> dict[str, RosterEntry]:
    """Match submitters to roster entries; return the entries by the submitters' ids.

    Match by Canvas's id, the folder's name or the account on GitHub; otherwise by the words of the
    full name, in any order. A name that several entries or several submitters have matches nobody.
    """
    by_login = {entry.student: entry for entry in roster}
    by_account = {entry.account.casefold(): entry for entry in roster if entry.account}
    by_canvas_id = {entry.canvas_id: entry for entry in roster if entry.canvas_id}
    matched = {}
    submitters_by_key = defaultdict(list)
    for submitter in submitters:
        by_id = by_canvas_id if submitter.system == CANVAS else by_login
        entry = by_id.get(submitter.id)
        if entry is None and not submitter.system:
            entry = by_account.get(submitter.id.casefold())
        if entry is not None:
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


def find_students(
    submitters: Mapping[str, Submitter], roster: Sequence[RosterEntry]
) -> list[Student]:
    """Return everyone who handed in or is on the roster, sorted."""
    entries = match_roster(roster, submitters.values())
    all_submitters = dict(submitters)
    for entry in {*roster} - {*entries.values()}:
        if entry.student not in submitters:
            all_submitters[entry.student] = Submitter(entry.student)
            entries[entry.student] = entry
    group_ids = match_groups(roster, submitters.values())
    students = []
    for submitter in all_submitters.values():
        is_expected = not roster or submitter.id in entries
        if submitter.id in entries or submitter.id not in group_ids.values():
            student = _student(submitter, entries.get(submitter.id), is_expected)
            students.append(replace(student, group_id=group_ids.get(student.group, "")))
    students.sort(key=lambda student: student.id)
    if any(student.system for student in students):  # a download's ids may be numbers
        students.sort(key=lambda student: student.name or student.id)
    return students


def _student(submitter: Submitter, entry: RosterEntry | None, is_expected: bool) -> Student:
    """Combine a submitter with the student's roster entry."""
    if entry is None:
        # Only the roster says logins, if there is one; and a download's ids are none.
        entry = RosterEntry(submitter.id if is_expected and not submitter.system else "")
    return Student(
        id=submitter.id,
        name=entry.name or submitter.name,
        system=submitter.system,
        canvas_id=submitter.canvas_id or entry.canvas_id,
        is_expected=is_expected,
        login=entry.student,
        group=entry.group,
    )


def find_student(name: str, students: Sequence[Student]) -> Student:
    """Return the one student of an id, a login or a name; raise CourseError if there is none.

    Students choose their names, so an id stands for its student even if it is another's name.
    """
    of_id = [student for student in students if name in (student.id, student.login)]
    found = of_id or [student for student in students if name == student.name]
    if not name or not found:
        raise CourseError(f"no student is called {name!r}")
    if len(found) > 1:
        raise CourseError(f"several students are called {name!r}")
    return found[0]


def match_groups(
    roster: Sequence[RosterEntry], submitters: Collection[Submitter]
) -> dict[str, str]:
    """Return the ids of those who handed in under the name of a group of the roster, by group."""
    ids = {group_key(each.name or each.id): each.id for each in submitters}
    groups = {entry.group: group_key(entry.group) for entry in roster if entry.group}
    return {group: ids[key] for group, key in groups.items() if key in ids}


def group_key(name: str) -> str:
    """Return a group's name in the form in which it is compared: Canvas removes the spaces."""
    return "".join(name_words(name))


def find_missing(
    roster: Sequence[RosterEntry], submitters: Collection[Submitter]
) -> dict[str, str]:
    """Return the students on the roster whom no submitter matches, each with the nearest one or "".

    In a near one's id, the login stands between other signs than letters and digits, or the words
    are those of the name; capitals and leading zeros do not count.
    """
    matched = match_roster(roster, submitters)
    others = [submitter.id for submitter in submitters if submitter.id not in matched]
    groups = match_groups(roster, submitters)
    missing = {}
    for entry in sorted({*roster} - {*matched.values()}, key=roster.index):
        if entry.group in groups:
            continue
        logins = [re.escape(login.lstrip("0")) for login in (entry.student, entry.account) if login]
        login = re.compile(rf"(?i)(?<![^\W_])0*({'|'.join(logins)})(?![^\W_])")
        name = {*name_words(entry.name)} or None
        near = [
            other
            for other in others
            if login.search(other) or name == {*name_words(other.replace("_", " "))}
        ]
        missing[entry.student] = min(near, key=len, default="")
    return missing


def read_roster(file: Path) -> list[RosterEntry]:
    """Read a roster, whose columns name, canvas_id and group are optional, as a CSV file.

    Canvas's export of grades and GitHub Classroom's of its roster are such files, too.
    """
    names, lines = read_csv(file, "student and name")
    rows = list(lines.values())
    group = next((name for name in names if name.casefold() == "group"), "")
    columns: tuple[str, ...] = ("student", "name", "canvas_id")
    if {"identifier", "github_username"} <= {*names}:
        columns = ("identifier", "name", "", "github_username")
    elif {"Student", "ID"} <= {*names}:
        # Skip Canvas's test student, and its second line, which has the points.
        rows = [row for row in rows if row["ID"] and row["Student"] != "Student, Test"]
        login = "SIS Login ID" if "SIS Login ID" in names else "ID"
        columns = (login, "Student", "ID")
    else:
        rows = [{name.casefold(): cell for name, cell in row.items()} for row in rows]
        names, group = [name.casefold() for name in names], group.casefold()
    if columns[0] not in names:
        raise CourseError(
            f"{file} needs a first line `student,name`, then a line for each student. "
            f"Its columns are: {', '.join(names)}."
        )
    entries = [
        replace(RosterEntry(*(row.get(name, "") for name in columns)), group=row.get(group, ""))
        for row in rows
        if row[columns[0]]
    ]
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
