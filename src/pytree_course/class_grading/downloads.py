"""Identify the student behind a file name that Canvas or Moodle made.

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
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

CANVAS, MOODLE = "Canvas", "Moodle"

# Overlapping matches are wanted: each is one way to read a name.
_CANVAS_IDS = re.compile(r"(?=_([1-9]\d*)_([1-9]\d*)_(.+))", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(LATE_)?(anon_[A-Za-z0-9]{5})_([1-9]\d*)_(.+)", re.DOTALL)
_CANVAS_TEXT = re.compile(r"(?:.*_)?(\d+|anon_[A-Za-z0-9]{5})_((?:text|link)\.html)")
_LATE = "LATE"
_MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<rest>.*))?",
    re.DOTALL,
)
_NO_NAME = "Participant"


@dataclass(frozen=True)
class Submitter:
    """Who handed in, as a folder or a download names them."""

    id: str  # the folder's name; Canvas's id of the user; Moodle's full name
    name: str = ""  # where it is known and is not the id
    system: str = ""  # CANVAS or MOODLE
    canvas_id: str = ""  # by which Canvas knows the student for certain


@dataclass(frozen=True)
class DownloadName:
    """What the name of a file or folder of a download says."""

    submitter: Submitter
    rest: str = ""  # what the student called the file; nothing where it is a folder
    attachment: int = 0  # of a student's files, a later one has a higher number
    remark: str = ""  # for the teacher
    problem: str = ""  # why no notebook is expected in it


def is_download(name: str) -> bool:
    """Say whether Canvas or Moodle gave a file this name."""
    return bool(_MOODLE.fullmatch(name) or _canvas_ways(name))


def download_names(
    names: Collection[str], canvas_ids: Collection[str] = ()
) -> dict[str, DownloadName]:
    """Read the names in one folder; those that neither Canvas nor Moodle made are left out.

    `canvas_ids` are those on the list of the class, where it has any.
    """
    moodles = {name: match for name in names if (match := _MOODLE.fullmatch(name))}
    ways = {name: found for name in names if name not in moodles if (found := _canvas_ways(name))}
    return _choose_ways(ways, canvas_ids) | _of_moodle(moodles)


def _of_moodle(matches: Mapping[str, re.Match[str]]) -> dict[str, DownloadName]:
    numbers = defaultdict(set)
    for match in matches.values():
        numbers[match["name"]].add(match["number"])
    read = {}
    for name, match in matches.items():
        # The number changes with the assignment: it tells two students of one name apart, but
        # would make two students of one who handed in two lessons.
        is_alone = len(numbers[match["name"]]) == 1 and match["name"] != _NO_NAME
        parts = [match["name"], "" if is_alone else match["number"]]
        plugin = match["plugin"]
        read[name] = DownloadName(
            Submitter("_".join(filter(None, parts)), system=MOODLE),
            match["rest"] or "",
            problem="" if plugin == "file" else f"it is Moodle's {plugin}, and no file",
        )
    return read


def _choose_ways(
    ways: Mapping[str, list[DownloadName]], canvas_ids: Collection[str]
) -> dict[str, DownloadName]:
    """Choose for each of Canvas's names the one way to read it that can be right."""
    read = {}
    for name, found in ways.items():
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
            way = replace(way, problem=problem)
        read[name] = way
    return read


def _canvas_ways(name: str) -> list[DownloadName]:
    """Return each way to read a name as Canvas's, that with the shortest student's name first."""
    if match := _CANVAS_TEXT.fullmatch(name):
        return [DownloadName(Submitter(match[1], "", CANVAS), match[2])]
    ways = []
    if match := _CANVAS_ANONYMOUS.fullmatch(name):
        late, anonymous, attachment, rest = match.groups()
        ways.append(_way(Submitter(anonymous, "", CANVAS), rest, attachment, bool(late)))
    for match in _CANVAS_IDS.finditer(name):
        number, attachment, rest = match.groups()
        student, _, last = name[: match.start()].rpartition("_")
        is_late = last == _LATE
        called = student if is_late else name[: match.start()]
        if all(unicodedata.category(each)[0] in "LMN" or each == "_" for each in called):
            ways.append(_way(Submitter(number, called, CANVAS, number), rest, attachment, is_late))
    return ways


def _way(submitter: Submitter, rest: str, attachment: str, is_late: bool) -> DownloadName:
    return DownloadName(submitter, rest, int(attachment), "late, says Canvas" if is_late else "")
