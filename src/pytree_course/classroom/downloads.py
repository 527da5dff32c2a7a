"""Read from the names in a download of Canvas or Moodle whose work each file is.

Canvas (`lib/content_zipper.rb` in instructure/canvas-lms) puts all files into one folder:
`lovelaceada_LATE_12345_678901_01_leaves_exercises-1.ipynb` is the sortable name in lower case
without blanks (of a group's work the group's), LATE where Canvas counts it as late, the user's id
(of a group the id of one member), the attachment's id, and the file's name. Where grading is
anonymous, `anon_` and five letters of this assignment only stand for name and id. A text or a link
that was handed in is `lovelaceada_12345_text.html` or `_link.html`.

Students choose their names and those of their files, and both may look like ids: then a name can
be read in several ways, of which one is right. A way is wrong if its id is on no list of the class,
or belongs to another name in a file that can be read in one way only.

Moodle (`mod/assign/classes/downloader.php` in moodle/moodle, before 4.1 in `locallib.php`) makes a
folder, or where the teacher chose so a prefix, `Ada Lovelace_12345_assignsubmission_file`, until
4.0 with `_` at its end; blanks stand for underscores in the name, so the first one ends it. The
number is another one in each assignment. A group's is the group's name and id. Where marking is
anonymous, `Participant` stands for the name. Other plugins, such as `onlinetext`, have folders of
their own.

Neither says when work was handed in: both give all files the time at which the download was made.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
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
    return bool(_MOODLE.fullmatch(name) or _canvas_ways(name))


def download_names(
    names: Iterable[str], canvas_ids: Collection[str] = ()
) -> dict[str, DownloadName]:
    """Read the names in one folder; those that Canvas and Moodle did not make are left out.

    Parameters
    ----------
    canvas_ids
        Those on the list of the class, where it has any.
    """
    ways, moodles = {}, {}
    numbers = defaultdict(set)
    for name in names:
        if match := _MOODLE.fullmatch(name):
            moodles[name] = match
            numbers[match["name"]].add(match["number"])
        elif found := _canvas_ways(name):
            ways[name] = found
    read = _canvas(ways, canvas_ids)
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


def _canvas(
    ways: dict[str, list[DownloadName]], canvas_ids: Collection[str]
) -> dict[str, DownloadName]:
    """Choose for each name the one way to read it that can be right."""
    certain = defaultdict(set)
    for found in ways.values():
        if len(found) == 1:
            certain[found[0].submitter.id].add(found[0].submitter.name)
    read = {}
    for name, found in ways.items():
        possible = [
            way
            for way in found
            if (not canvas_ids or way.submitter.id in canvas_ids)
            and way.submitter.name in (certain.get(way.submitter.id) or [way.submitter.name])
        ] or found
        read[name] = possible[0]
        called = certain.get(possible[0].submitter.id, set())
        if len(called) > 1:
            remark = f"Canvas calls this student {' and '.join(sorted(called))}"
            read[name] = replace(possible[0], remark=remark)
        if len({way.submitter.id for way in possible}) > 1:
            whose = " or ".join(
                f"{way.submitter.id} ({way.submitter.name or 'no name'})" for way in possible
            )
            problem = (
                f"whose it is can be read in several ways: {whose}. Rename it so that no other "
                "numbers stand between underscores, or name Canvas's export of grades with --roster"
            )
            read[name] = replace(possible[0], problem=problem)
    return read


def _canvas_ways(name: str) -> list[DownloadName]:
    """Return each way to read a name as Canvas's, that which reads least as the student's first."""
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
