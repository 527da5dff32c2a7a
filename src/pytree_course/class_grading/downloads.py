"""Identify the student behind a file name that a learning platform made.

Canvas (`lib/content_zipper.rb` in instructure/canvas-lms) puts all files into one folder. In
`lovelaceada_LATE_12345_678901_01_leaves_exercises-1.ipynb` stand the student's sortable name in
lower case without blanks (of a group's work, the group's name), LATE where Canvas counts it as
late, the id of the user (or of one member of the group), the id of the attachment, and the file's
name. In anonymous grading, `anon_` and five letters, which differ in each assignment, stand for
name and id.
A text or a link that was handed in is `lovelaceada_12345_text.html` or `_link.html`.

Students choose their own names and those of their files, and both may look like ids: then a name
can be read in several ways. A way is wrong if its id is not on the list of the class.

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
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

CANVAS, MOODLE, BRIGHTSPACE = "Canvas", "Moodle", "Brightspace"

# Overlapping matches are wanted: each is one way to read a name.
_CANVAS_IDS = re.compile(r"(?=_([1-9]\d*)_([1-9]\d*)_.)")
_CANVAS_ANONYMOUS = re.compile(r"(LATE_)?(anon_[A-Za-z0-9]{5})_([1-9]\d*)_.+", re.DOTALL)
_CANVAS_TEXT = re.compile(r"(?:.*_)?(\d+|anon_[A-Za-z0-9]{5})_(?:text|link)\.html")
_LATE = "LATE"
_MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_.*)?",
    re.DOTALL,
)
_BRIGHTSPACE = re.compile(
    r"(?P<number>\d+-\d+) - (?P<name>.+?) - (?P<date>[^-]*\b\d{4}\b[^-]*?)(?: - .+)?",
    re.DOTALL,
)
_WITH_NAMES = {MOODLE: _MOODLE, BRIGHTSPACE: _BRIGHTSPACE}
_NO_NAME = "Participant"
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


def is_download(name: str) -> bool:
    """Say whether a learning platform gave a file or folder this name."""
    return bool(download_names([name]))


def download_names(
    names: Collection[str], canvas_ids: Collection[str] = ()
) -> dict[str, DownloadName]:
    """Read the names in one folder; those that no platform made are left out.

    `canvas_ids` are those on the list of the class, where it has any.
    """
    refused = {
        name: DownloadName(Submitter(""), problem=why)
        for name in names
        for pattern, why in _REFUSED.items()
        if pattern.fullmatch(name)
    }
    named = {
        name: (system, match)
        for name in names
        for system, pattern in _WITH_NAMES.items()
        if (match := pattern.fullmatch(name))
    }
    ways = {name: _canvas_ways(name) for name in {*names} - {*named} - {*refused}}
    return _choose_ways(ways, canvas_ids) | _with_names(named) | refused


def _with_names(matches: Mapping[str, tuple[str, re.Match[str]]]) -> dict[str, DownloadName]:
    """Read names that say what a student is called, as those of Moodle and Brightspace do."""
    numbers = defaultdict(set)
    for _, match in matches.values():
        numbers[match["name"]].add(match["number"])
    read = {}
    for name, (system, match) in matches.items():
        # The number changes with the assignment: it tells two students of one name apart, but
        # would make two students of one who handed in two lessons.
        is_alone = len(numbers[match["name"]]) == 1 and match["name"] != _NO_NAME
        parts = [match["name"], "" if is_alone else match["number"]]
        submitter = Submitter("_".join(filter(None, parts)), system=system)
        read[name] = DownloadName(submitter)
        if system == BRIGHTSPACE:
            order, remark = _brightspace_order(match["date"])
            read[name] = replace(read[name], order=order, remark=remark)
        elif match["plugin"] != "file":
            why = f"it is Moodle's {match['plugin']}, and no file"
            read[name] = replace(read[name], problem=why)
    return read


def _brightspace_order(date: str) -> tuple[int, str]:
    """Return a number that is higher for a later date; and a remark where it cannot be read."""
    four_digits = re.sub(r"\b(\d{3})\b", r"0\1", date)
    for form in ("%b %d, %Y %I%M %p", "%d %B, %Y %H%M"):
        with suppress(ValueError):
            return int(datetime.strptime(four_digits, form).replace(tzinfo=UTC).timestamp()), ""
    return 0, f"when it was handed in cannot be read from {date!r}"


def _choose_ways(
    ways: Mapping[str, list[DownloadName]], canvas_ids: Collection[str]
) -> dict[str, DownloadName]:
    """Choose for each of Canvas's names the one way to read it that can be right."""
    read = {}
    for name, found in ways.items():
        if not found:
            continue
        listed = [way for way in found if way.submitter.id in canvas_ids]
        possible = listed or found
        way = possible[0]
        if len({each.submitter.id for each in possible}) > 1:
            whose = " or ".join(
                f"{each.submitter.id} ({each.submitter.name or 'no name'})" for each in possible
            )
            problem = (
                f"whose it is can be read in several ways: {whose}. Rename it so that no other "
                "numbers stand between underscores, or name Canvas's export of grades with --roster"
            )
            way = replace(way, submitter=Submitter(""), problem=problem)
        read[name] = way
    return read


def _canvas_ways(name: str) -> list[DownloadName]:
    """Return each way to read a name as Canvas's, that with the shortest student's name first."""
    if match := _CANVAS_TEXT.fullmatch(name):
        return [DownloadName(Submitter(match[1], "", CANVAS))]
    ways = []
    if match := _CANVAS_ANONYMOUS.fullmatch(name):
        late, anonymous, attachment = match.groups()
        ways.append(_way(Submitter(anonymous, "", CANVAS), attachment, bool(late)))
    for match in _CANVAS_IDS.finditer(name):
        number, attachment = match.groups()
        student, _, last = name[: match.start()].rpartition("_")
        is_late = last == _LATE
        called = student if is_late else name[: match.start()]
        if all(unicodedata.category(each)[0] in "LMN" or each == "_" for each in called):
            ways.append(_way(Submitter(number, called, CANVAS, number), attachment, is_late))
    return ways


def _way(submitter: Submitter, attachment: str, is_late: bool) -> DownloadName:
    return DownloadName(submitter, int(attachment), "late, says Canvas" if is_late else "")
