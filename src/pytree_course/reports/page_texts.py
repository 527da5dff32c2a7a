"""Helpers for the pages' templates: filters for texts and times, pictures, file names."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from statistics import median

from markupsafe import Markup

from pytree_course import drawing
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES, backticks_to_code
from pytree_course.observing.observations import Observation, all_parts
from pytree_course.texts import printable_lines, shorten

MOST_LINES = 120
MOST_CHARACTERS = 6_000
MOST_IN_A_SENTENCE = 2_000
MOST_IN_A_NAME = 120
MOST_IN_PICTURES = 2_000_000  # characters, on one page
MOST_PARTS = 200_000  # nodes and leaves that are looked at for them, which takes a few seconds

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# What Windows takes for a device, whatever comes after the dot; and a web server for the folder.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|index", re.IGNORECASE)


def excerpt(text: str) -> str:
    """Shorten a text of any length to what fits a page."""
    return "\n".join(text[:MOST_CHARACTERS].split("\n")[:MOST_LINES])


def sentence(text: str) -> Markup:
    """Write a text of a sentence or two, what is between backticks as code."""
    if len(text) > MOST_IN_A_SENTENCE:
        text = f"{text[:MOST_IN_A_SENTENCE]}… (shortened)"
    return backticks_to_code(printable_lines(text))


def moment(at: datetime) -> str:
    """Write a date and time of day."""
    return f"{at.day} {at:%B %Y, %H:%M}"


def page_names(students: Iterable[str]) -> dict[str, str]:
    """Choose the file name of each student's page; no two are equal, even where case is ignored.

    A plain name stays as it is; any other ends with a tilde, which no plain name has, and a digest.
    """
    students = list(students)
    times = Counter(student.casefold() for student in students)
    names = {}
    for student in students:
        is_plain = _PLAIN_NAME.fullmatch(student) and not _RESERVED.fullmatch(student)
        if is_plain and times[student.casefold()] == 1:
            names[student] = f"{student}.html"
            continue
        letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
        readable = re.sub(r"[^A-Za-z0-9]+", "-", letters)[:40].strip("-") or "student"
        digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
        names[student] = f"{readable}~{digest[:16]}.html"
    return names


render = FEEDBACK_TEMPLATES.extended(
    {
        "sentence": sentence,
        "shortened": lambda text: shorten(text, MOST_IN_A_NAME),
        "median": lambda values: f"{median(values):g}",
        "excerpt": excerpt,
        "moment": moment,
    }
).render


class Pictures:
    """Draws the pictures of one page; those that are too many are a sentence each."""

    def __init__(self) -> None:
        self._room = MOST_IN_PICTURES
        self._parts = MOST_PARTS

    def __call__(self, seen: Observation) -> str:
        """Return an observation as inline SVG."""
        if self._room <= 0 or self._parts <= 0:
            return "This picture is left out: there are too many pictures on this page."
        self._parts -= sum(1 for _ in all_parts(seen))
        picture = Markup(drawing.svg(seen))
        self._room -= len(picture)
        return picture
