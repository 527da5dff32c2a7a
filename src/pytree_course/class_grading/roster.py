"""The students of a class: its roster, and who handed in."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.class_grading.csv_files import read_csv
from pytree_course.class_grading.downloads import CANVAS, Submitter
from pytree_course.course import CourseError

_CANVAS_COLUMN = re.compile(r".*\s\(\d+\)")
_CANVAS_ID = "ID"  # the column of its ids
_TOTALS = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")


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
    names, rows = read_csv(file, "student and name")
    columns = _find_columns(names)
    if not columns["student"]:
        raise CourseError(
            f"{file} needs a first line `student,name`, then a line for each student. "
            f"Its columns are: {', '.join(names)}."
        )
    entries = []
    for row in rows.values():
        entry = RosterEntry(**{field: row[name] for field, name in columns.items() if name})
        if entry.student and not _is_canvas_own(entry, columns):
            entries.append(entry)
    if not entries:
        raise CourseError(f"{file} has no line with a student.")
    logins = [entry.student for entry in entries]
    ids = [f"ID {entry.canvas_id}" for entry in entries if entry.canvas_id]
    repeated = [name for name, count in Counter(logins + ids).items() if count > 1]
    if repeated:
        students = ", ".join(repeated)
        raise CourseError(f"{file} has {students} more than once: leave one line of each.")
    return entries


def _find_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the column of each field of a roster's entry; "" if there is none."""
    by_lower = {name.casefold(): name for name in names}
    columns = {name: by_lower.get(name, "") for name in ("student", "name", "canvas_id", "group")}
    if {"identifier", "github_username"} <= {*names}:
        columns |= {"student": "identifier", "account": "github_username"}
    elif {"Student", _CANVAS_ID} <= {*names}:
        login = "SIS Login ID" if "SIS Login ID" in names else _CANVAS_ID
        columns |= {"student": login, "name": "Student", "canvas_id": _CANVAS_ID}
    return columns


def _is_canvas_own(entry: RosterEntry, columns: Mapping[str, str]) -> bool:
    """Return whether a line of Canvas's export has the points, or is its test student's."""
    is_student = entry.canvas_id and entry.name != "Student, Test"
    return columns["canvas_id"] == _CANVAS_ID and not is_student


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
