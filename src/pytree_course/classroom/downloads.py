"""Whose a file of a download from Canvas or Moodle is: its name says so.

Canvas (`lib/content_zipper.rb` in instructure/canvas-lms) puts all files into one folder:
`lovelaceada_LATE_12345_678901_01_leaves-1.ipynb` is the sortable name in lower case without blanks
(of a group's work the group's), LATE where Canvas counts it as late, the user's id (of a group the
id of one member), the attachment's id, and the file's name. Where grading is anonymous, `anon_`
and five letters of this assignment only stand for name and id. A text or a link that was handed in
is `lovelaceada_12345_text.html` or `_link.html`.

Moodle (`mod/assign/classes/downloader.php` in moodle/moodle, before 4.1 in `locallib.php`) makes a
folder, or where the teacher chose so a prefix, `Ada Lovelace_12345_assignsubmission_file`, until
4.0 with `_` at its end; blanks stand for underscores in the name. The number is another one in
each assignment. A group's is the group's name and id. Where marking is anonymous, `Participant`
stands for the name. Other plugins, such as `onlinetext`, have folders of their own.

Neither says when work was handed in: both give all files the time at which the download was made.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

CANVAS, MOODLE = "Canvas", "Moodle"

_CANVAS = re.compile(
    r"(?:(?P<late>LATE_)?(?P<anonymous>anon_[A-Za-z0-9]+)"
    r"|(?P<name>\w*?)_(?P<late_too>LATE_)?(?P<id>\d+))"
    r"_(?:(?P<attachment>\d+)_(?P<rest>.+)|(?P<text>(?:text|link)\.html))",
    re.DOTALL,
)
_MOODLE = re.compile(
    r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<rest>.*))?",
    re.DOTALL,
)
_NO_NAME = "Participant"


@dataclass(frozen=True)
class Submitter:
    """Who handed in, as a folder or a download names them; every field is kept in the gradebook."""

    id: str  # the folder's name; Canvas's id of the user; Moodle's full name
    name: str = ""  # where the id is not all that there is
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
    return bool(_CANVAS.fullmatch(name) or _MOODLE.fullmatch(name))


def download_names(names: Iterable[str]) -> dict[str, DownloadName]:
    """Read the names in one folder; those that Canvas and Moodle did not make are left out."""
    read = {}
    moodles = {}
    numbers = defaultdict(set)
    for name in names:
        if match := _MOODLE.fullmatch(name):
            moodles[name] = match
            numbers[match["name"]].add(match["number"])
        elif match := _CANVAS.fullmatch(name):
            read[name] = _canvas(match)
    for name, match in moodles.items():
        # The number changes with the assignment: it tells two students of one name apart, but
        # would make two students of one who handed in two lessons.
        is_alone = len(numbers[match["name"]]) == 1 and match["name"] != _NO_NAME
        plugin = match["plugin"]
        whole = "_".join(filter(None, [match["name"], match["number"]]))
        read[name] = DownloadName(
            Submitter(match["name"] if is_alone else whole, system=MOODLE),
            match["rest"] or "",
            problem="" if plugin == "file" else f"it is Moodle's {plugin}, and no file",
        )
    return read


def _canvas(match: re.Match[str]) -> DownloadName:
    number = match["id"] or ""  # none where it is anonymous
    return DownloadName(
        Submitter(number or match["anonymous"], match["name"] or "", CANVAS, number),
        match["rest"] or match["text"],
        int(match["attachment"] or 0),
        "late, says Canvas" if match["late"] or match["late_too"] else "",
    )
