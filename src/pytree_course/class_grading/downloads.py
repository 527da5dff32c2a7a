"""Identify the student behind a file name that a learning platform made.

Canvas (`lib/content_zipper.rb` in instructure/canvas-lms) puts all files into one folder, with
names such as `lovelaceada_LATE_12345_678901_01_leaves_exercises-1.ipynb`:

- `lovelaceada`: the student's sortable name in lower case without blanks, or the group's name;
- `LATE`: where Canvas counts it as late;
- `12345`: the id of the user, or of one member of the group;
- `678901`: the id of the attachment; then the file's name.

In anonymous grading, `anon_` and five letters, which differ in each assignment, stand for name and
id. A text or a link that was handed in is `lovelaceada_12345_text.html` or `_link.html`.

Students choose their own names and those of their files, and both may look like ids: then a name
has several readings. A reading is wrong if its id is not on the list of the class.

Moodle (`mod/assign/classes/downloader.php` in moodle/moodle, before 4.1 in `locallib.php`) makes a
folder `Ada Lovelace_12345_assignsubmission_file`, until 4.0 with `_` at its end; or, as the teacher
chooses, puts this before the files' names. Underscores in the student's name become blanks, so the
first one ends it. The number differs in each assignment. Of a group's work, name and id are the
group's. In anonymous marking, `Participant` stands for the name. Other plugins, such as
`onlinetext`, have folders of their own.

Neither says when work was handed in: both give all files the time of the download.

Brightspace makes a folder `123456-78910 - Ada Lovelace - Sep 10, 2026 1159 PM` for each time that a
student handed in, or puts this and ` - ` before the files' names; elsewhere the date is written as
`10 September, 2026 2359`.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

CANVAS, MOODLE, BRIGHTSPACE = "Canvas", "Moodle", "Brightspace"

# Overlapping matches are wanted: each is one reading of a name.
_CANVAS = re.compile(
    r"(?=(?:_([1-9]\d*)|(?:^|_)(anon_[A-Za-z0-9]{5}))_(?:([1-9]\d*)_.|(?:text|link)\.html$))"
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
    re.compile(r"submission_\d+"): "it is from Gradescope, whose folders are called by numbers: "
    "submission_metadata.yml says whose each is. Call each folder as its student",
    re.compile(r".+_attempt_\d{4}(-\d\d){5}[._].+", re.DOTALL): "it is from Blackboard, whose "
    "names do not say for certain where the username begins. Put it into a folder called as its "
    "student",
}


@dataclass(frozen=True)
class Submitter:
    """Who handed in, as a folder or a download names them."""

    id: str  # the folder's name; Canvas's id of the user; or the full name
    name: str = ""  # where it is known and is not the id
    system: str = ""  # CANVAS, MOODLE or BRIGHTSPACE
    canvas_id: str = ""  # by which Canvas knows the student for certain


@dataclass(frozen=True)
class DownloadName:
    """What the name of a file or folder of a download says."""

    submitter: Submitter
    order: int = 0  # of a student's files, a later one has a higher number
    remark: str = ""  # for the teacher
    problem: str = ""  # why no notebook is expected in it


def download_names(
    names: Collection[str], canvas_ids: Collection[str] = ()
) -> dict[str, DownloadName]:
    """Read the names in one folder; those that no platform made are left out.

    `canvas_ids` are those on the list of the class, where it has any.
    """
    matches = {name: _MOODLE.fullmatch(name) or _BRIGHTSPACE.fullmatch(name) for name in names}
    numbers = defaultdict(set)  # by the student's name
    for match in matches.values():
        if match:
            numbers[match["name"]].add(match["number"])
    downloads = {}
    for name, match in matches.items():
        if match:
            is_unique = len(numbers[match["name"]]) == 1
            downloads[name] = _with_name(match, is_unique=is_unique)
        elif reason := _refusal(name):
            downloads[name] = DownloadName(Submitter(""), problem=reason)
        elif readings := _canvas_readings(name):
            downloads[name] = _only_possible(readings, canvas_ids)
    return downloads


def _refusal(name: str) -> str:
    return next((reason for pattern, reason in _REFUSED.items() if pattern.fullmatch(name)), "")


def _with_name(match: re.Match[str], *, is_unique: bool) -> DownloadName:
    """Read a name that says what a student is called, as those of Moodle and Brightspace do.

    The number changes with the assignment: it tells two students of one name apart, but would make
    two students of one who handed in two lessons.
    """
    name = match["name"]
    needs_number = name == _ANONYMOUS or not is_unique
    if match["number"] and needs_number:
        name = f"{name}_{match['number']}"
    if match.re is _MOODLE:
        is_file = match["plugin"] == "file"
        problem = "" if is_file else f"it is Moodle's {match['plugin']}, and no file"
        return DownloadName(Submitter(name, system=MOODLE), problem=problem)
    submitter = Submitter(name, system=BRIGHTSPACE)
    # It writes 9:59 as 959, in which `strptime` would read 95 hours.
    four_digits = re.sub(r"\b(\d{3})\b", r"0\1", match["date"])
    for date_format in ("%b %d, %Y %I%M %p", "%d %B, %Y %H%M"):
        with suppress(ValueError):
            moment = datetime.strptime(four_digits, date_format)
            order = moment.replace(tzinfo=UTC).timestamp()  # in any zone, the order is the same
            return DownloadName(submitter, int(order))
    remark = f"when it was handed in cannot be read from {match['date']!r}"
    return DownloadName(submitter, remark=remark)


def _canvas_readings(name: str) -> list[DownloadName]:
    """Return each reading of a name as Canvas's, that with the shortest student's name first."""
    readings = []
    for match in _CANVAS.finditer(name):
        number, anonymous, attachment = match.groups(default="")
        student, is_late = _LATE.subn("", name[: match.start()])
        if all(unicodedata.category(letter)[0] in "LMN" or letter == "_" for letter in student):
            submitter = Submitter(number or anonymous, student, CANVAS, number)
            remark = "late, says Canvas" if is_late else ""
            readings.append(DownloadName(submitter, int(attachment or 0), remark))
    return readings


def _only_possible(readings: list[DownloadName], canvas_ids: Collection[str]) -> DownloadName:
    """Choose the one reading of a name of Canvas's that can be right."""
    on_list = [reading for reading in readings if reading.submitter.id in canvas_ids]
    possible = on_list or readings
    submitters = [reading.submitter for reading in possible]
    if len({submitter.id for submitter in submitters}) == 1:
        return possible[0]
    names = [f"{submitter.id} ({submitter.name or 'no name'})" for submitter in submitters]
    problem = (
        f"whose it is can be read in several ways: {' or '.join(names)}. Rename it so that no "
        "other numbers stand between underscores, or name Canvas's export of grades with --roster"
    )
    return DownloadName(Submitter(""), problem=problem)
