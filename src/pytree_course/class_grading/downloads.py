"""Identify the student behind a file name that a learning platform made.

Canvas (`lib/content_zipper.rb` in instructure/canvas-lms) puts all files into one folder, with
names such as `lovelaceada_LATE_12345_678901_01_leaves_exercises-1.ipynb`:

- `lovelaceada`: the student's sortable name in lower case without blanks, or the group's name;
- `LATE`: if Canvas counts it as late;
- `12345`: the id of the user, or of one member of the group;
- `678901`: the id of the attachment; then the file's name.

In anonymous grading, `anon_` and five letters replace the name and the id; they differ between
assignments. A submitted text or link is `lovelaceada_12345_text.html` or `_link.html`.

Students choose their names and file names, and either may contain digits between underscores, so a
name can be read in several ways. Readings whose id is not on the roster are discarded.

Moodle (`mod/assign/classes/downloader.php` in moodle/moodle, before 4.1 in `locallib.php`) makes a
folder `Ada Lovelace_12345_assignsubmission_file`, until 4.0 with `_` at its end; or, as the teacher
chooses, puts this before the files' names. Underscores in the student's name become spaces, so the
first underscore ends the name. The number differs between assignments. For group work, name and
number are the group's. In anonymous marking, the name is `Participant`. Other plugins, such as
`onlinetext`, have folders of their own.

Canvas and Moodle do not say when work was handed in: all files have the time of the download.

Brightspace makes a folder `123456-78910 - Ada Lovelace - Sep 10, 2026 1159 PM` for each submission,
or puts this and ` - ` before the files' names; elsewhere the date is `10 September, 2026 2359`. It
does not document the numbers; other tools take them for the ids of the user and the assignment.

`gh classroom clone student-repos` (github/gh-classroom) makes a folder `leaves-submissions` with a
clone `leaves-ada` of each student's repository: of the assignment `leaves` and the account `ada`.
GitHub Classroom Assistant names each clone by its account alone.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

CANVAS, MOODLE, BRIGHTSPACE = "Canvas", "Moodle", "Brightspace"

# A lookahead, so that matches may overlap: each is one reading of a name.
_CANVAS = re.compile(
    r"(?=(?:_(?P<user>[1-9]\d*)|(?:^|_)(?P<anonymous>anon_[A-Za-z0-9]{5}))"
    r"_(?:(?P<attachment>[1-9]\d*)_.|(?:text|link)\.html$))"
)
_LATE = re.compile(r"(?:^|_)LATE$")
_MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_.*)?",
    re.DOTALL,
)
_BRIGHTSPACE = re.compile(
    r"(?P<number>\d+-\d+) - (?P<name>.+?) - (?P<date>[^-]*\b\d{4}\b[^-]*?)(?: - .+)?",
    re.DOTALL,
)
_ANONYMOUS = "Participant"
_REFUSED = {
    re.compile(r"submission_\d+"): "it is from Gradescope, which numbers its folders; "
    "submission_metadata.yml lists the students. Rename each folder to its student",
    re.compile(r".+_attempt_\d{4}(-\d\d){5}[._].+", re.DOTALL): "it is from Blackboard, whose "
    "names do not say for certain where the username begins. Put it into a folder named after its "
    "student",
}


@dataclass(frozen=True)
class Submitter:
    """A student or a group, as a folder or a download names them."""

    id: str  # unique in a class: the folder's name, Canvas's id, or the full name
    name: str = ""  # if it is known and is not the id
    system: str = ""  # CANVAS, MOODLE or BRIGHTSPACE
    canvas_id: str = ""  # if it is known for certain


@dataclass(frozen=True)
class DownloadName:
    """The information in a file's or folder's name."""

    submitter: Submitter
    name: str = ""  # as the platform made it; it takes feedback back by this name
    order: int = 0  # a student's later file has a higher one
    remark: str = ""  # for the teacher
    problem: str = ""  # why no notebook is expected in it


def download_names(
    names: Collection[str], canvas_ids: Collection[str] = ()
) -> dict[str, DownloadName]:
    """Interpret the names in one folder; names that no platform made are skipped.

    `canvas_ids` are the ids on the roster, if it has any.
    """
    numbers = defaultdict(set)  # by the student's name
    for name in names:
        if match := _MOODLE.fullmatch(name) or _BRIGHTSPACE.fullmatch(name):
            numbers[match["name"]].add(match["number"])
    downloads = {}
    for name in names:
        if match := _MOODLE.fullmatch(name):
            downloads[name] = _moodle_download(match, numbers)
        elif match := _BRIGHTSPACE.fullmatch(name):
            downloads[name] = _brightspace_download(match, numbers)
        elif reason := _explain_refusal(name):
            downloads[name] = DownloadName(Submitter(""), problem=reason)
        elif readings := _canvas_readings(name):
            downloads[name] = _choose_reading(readings, canvas_ids)
    return {name: replace(download, name=name) for name, download in downloads.items()}


def classroom_account(name: str, parent: str, accounts: Iterable[str]) -> str:
    """Return the account on GitHub in the name of a clone; "" if there is none for certain.

    `accounts` are those on the roster, for a folder that was renamed.
    """
    assignment, ending, _ = parent.casefold().rpartition("-submissions")
    if ending and name.casefold().startswith(f"{assignment}-"):
        return name[len(assignment) + 1 :]
    endings = [each for each in accounts if name.casefold().endswith(f"-{each.casefold()}")]
    return max(endings, key=len, default="")


def _moodle_download(match: re.Match[str], numbers: Mapping[str, set[str]]) -> DownloadName:
    is_file = match["plugin"] == "file"
    problem = "" if is_file else f"it is Moodle's {match['plugin']}, not a file"
    return DownloadName(Submitter(_student_id(match, numbers), system=MOODLE), problem=problem)


def _brightspace_download(match: re.Match[str], numbers: Mapping[str, set[str]]) -> DownloadName:
    submitter = Submitter(_student_id(match, numbers), system=BRIGHTSPACE)
    # It writes 9:59 as 959, which `strptime` would read as 95 hours.
    four_digits = re.sub(r"\b(\d{3})\b", r"0\1", match["date"])
    for date_format in ("%b %d, %Y %I%M %p", "%d %B, %Y %H%M"):
        with suppress(ValueError):
            moment = datetime.strptime(four_digits, date_format)
            order = moment.replace(tzinfo=UTC).timestamp()  # the order is the same in any zone
            return DownloadName(submitter, order=int(order))
    remark = f"the date of its submission cannot be read: {match['date']!r}"
    return DownloadName(submitter, remark=remark)


def _student_id(match: re.Match[str], numbers: Mapping[str, set[str]]) -> str:
    """Return the student's name, with the number if several students have the name.

    The number changes with the assignment: including it always would split a student who handed in
    two lessons.
    """
    name, number = match["name"], match["number"]
    needs_number = name == _ANONYMOUS or len(numbers[name]) > 1
    return f"{name}_{number}" if number and needs_number else name


def _explain_refusal(name: str) -> str | None:
    return next((reason for pattern, reason in _REFUSED.items() if pattern.fullmatch(name)), None)


def _canvas_readings(name: str) -> list[DownloadName]:
    """Return each reading of a name as Canvas's, the one with the shortest student's name first."""
    readings = []
    for match in _CANVAS.finditer(name):
        user = match["user"] or ""
        student, is_late = _LATE.subn("", name[: match.start()])
        # Canvas keeps only these of a name's characters: letters, marks, numbers and underscores.
        if all(unicodedata.category(letter)[0] in "LMN" or letter == "_" for letter in student):
            submitter = Submitter(user or match["anonymous"], student, CANVAS, user)
            remark = "late, says Canvas" if is_late else ""
            order = int(match["attachment"] or 0)
            readings.append(DownloadName(submitter, order=order, remark=remark))
    return readings


def _choose_reading(readings: list[DownloadName], canvas_ids: Collection[str]) -> DownloadName:
    """Choose the only possible reading of a name; if several are possible, report a problem."""
    on_list = [reading for reading in readings if reading.submitter.id in canvas_ids]
    possible = on_list or readings
    submitters = [reading.submitter for reading in possible]
    if len({submitter.id for submitter in submitters}) == 1:
        return possible[0]
    names = [f"{submitter.id} ({submitter.name or 'no name'})" for submitter in submitters]
    problem = (
        f"the student's id is ambiguous: {' or '.join(names)}. Rename it so that no other numbers "
        "stand between underscores, or name Canvas's export of grades with --roster"
    )
    return DownloadName(Submitter(""), problem=problem)
