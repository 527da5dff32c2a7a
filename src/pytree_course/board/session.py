"""A session with a class: its log of events, the state that follows from them, and its limits."""

import asyncio
import hashlib
import json
import secrets
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tornado import web

from pytree_course.class_grading.gradebook import open_sqlite
from pytree_course.course import CourseError
from pytree_course.judging.expected import Belief

_VERSION = 2
_TABLE = (
    "CREATE TABLE event (number INTEGER PRIMARY KEY, who TEXT NOT NULL, key TEXT NOT NULL, "
    "time TEXT NOT NULL, what TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (who, key)) STRICT"
)


class Event(NamedTuple):
    """An event of a session; `Room.take` lists the kinds."""

    number: int  # in the log, from 1
    who: str  # a learner's id; empty for the teacher
    time: datetime  # when it came
    what: str
    data: dict[str, Any]


class Log:
    """All events of a session, in a file that is made if missing, and that only its owner can read.

    Raises
    ------
    CourseError
        When the file is no log, or cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        with self.explained():
            self._database = open_sqlite(file, [_TABLE], _VERSION)
            # What is written survives the end of this process, however it ends.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")

    def append(self, who: str, key: str, what: str, data: dict[str, Any]) -> Event | None:
        """Store an event; return None if there is one with this key from this learner already."""
        now = datetime.now(UTC)
        row = (who, key, now.isoformat(), what, json.dumps(data))
        statement = "INSERT OR IGNORE INTO event (who, key, time, what, data) VALUES "
        with self.explained():
            added = self._database.execute(f"{statement} (?, ?, ?, ?, ?)", row)
        return Event(added.lastrowid or 0, who, now, what, data) if added.rowcount else None

    def events(self) -> list[Event]:
        """Return all events, in the order in which they came."""
        with self.explained():
            rows = self._database.execute(
                "SELECT number, who, time, what, data FROM event ORDER BY number"
            )
            return [
                Event(number, who, datetime.fromisoformat(time), what, json.loads(data))
                for number, who, time, what, data in rows
            ]

    def close(self) -> None:
        """Close the file; SQLite removes the files beside it."""
        self._database.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise a CourseError for whatever is wrong with the file, which may have been edited."""
        try:
            yield
        except Exception as error:
            raise CourseError(
                f"{self.file} cannot be used for a session with a class: {error}. It is left as it "
                "is. See that there is room on its disk, or name another file."
            ) from error


_IN_NAMES = " -'’.,()&+_"
# Letters and marks that show nothing: fillers of Hangul, vowels of Khmer, selectors of variants.
_SHOW_NOTHING = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0} | {
    *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def visible_name(name: str) -> str:
    """Return a name's letters, marks, digits and usual signs, of what can be seen, shortened."""
    visible = "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", name)
        if letter.isspace() or letter in _IN_NAMES or unicodedata.category(letter)[0] in "LMN"
        if ord(letter) not in _SHOW_NOTHING
    )
    return " ".join(visible.split())[:MAX_NAME]


@dataclass
class Work:
    """A learner's work on one exercise."""

    tries: int = 0  # wrong checks before the first right one
    alike: int = 0  # how many of the last checks were wrong for the same reasons
    held: list[str] = field(default_factory=list)  # the misconceptions that the last check showed
    is_solved: bool = False
    time: datetime | None = None  # of the last check

    def count(self, check: dict[str, Any], time: datetime) -> None:
        """Count a check."""
        is_right, held = check["is_right"], check["held"]
        self.tries += not is_right and not self.is_solved
        self.alike = 0 if is_right else self.alike + 1 if held == self.held else 1
        self.is_solved |= is_right
        self.held, self.time = held, time


@dataclass
class Learner:
    """A learner in the room."""

    name: str
    work: dict[tuple[str, str], Work] = field(default_factory=lambda: defaultdict(Work))
    """By lesson and exercise."""


@dataclass
class VoteRound:
    """A round of a vote on a question, open or closed, and the round before it."""

    number: int
    about: Belief
    case: str  # of the question
    before: "VoteRound | None" = None
    choices: dict[str, str] = field(default_factory=dict)  # letters, by learner
    is_open: bool = True
    is_explained: bool = False

    @property
    def counts(self) -> Counter[str]:
        """How many chose each letter."""
        return Counter(self.choices.values())


class Room:
    """The state of a session, derived from its events in order."""

    def __init__(self) -> None:
        self.code = self.token = ""  # the class joins with one, the teacher's pages ask the other
        self.learners: dict[str, Learner] = {}  # those who are here, by their id
        self.lesson = ""  # that the board shows
        self.began: datetime | None = None  # when that lesson did
        self.note: tuple[int, str] | None = None  # the last one, with its number, until taken back
        self.vote: VoteRound | None = None  # the last one
        self.asked: set[tuple[str, str]] = set()  # exercises and cases of all votes
        self.shown: Belief | None = None  # on the projector

    def take(self, event: Event) -> None:
        """Apply an event."""
        data, learner = event.data, self.learners.get(event.who)
        match event.what:
            case "opened":
                self.code, self.token = data["code"], data["token"]
            case "joined":
                self.learners[event.who] = Learner(self._free_name(data["name"]))
                self.began = self.began or event.time
            case "left" | "remove":
                self.learners.pop(data.get("learner", event.who), None)
            case "rename" if renamed := self.learners.get(data["learner"]):
                renamed.name = ""
                renamed.name = self._free_name(data["name"])
            case "checked" if learner:
                self.lesson = self.lesson or data["lesson"]
                learner.work[data["lesson"], data["exercise"]].count(data, event.time)
            case "voted" if learner and self.vote and self.vote.number == data["vote"]:
                self.vote.choices[event.who] = data["choice"]
            case "begin":
                self.lesson, self.began = data["lesson"], event.time
            case "note":
                self.note = (event.number, data["text"])
            case "take back":
                self.note = None
            case "ask":
                about = Belief(data["lesson"], data["exercise"], data["name"])
                self.vote, self.shown = VoteRound(event.number, about, data["case"]), None
                self.asked.add((about.exercise, data["case"]))
            case "ask again" if self.vote:
                self.vote = VoteRound(event.number, self.vote.about, self.vote.case, self.vote)
            case "close" if self.vote:
                self.vote.is_open = False
            case "explain" if self.vote:
                self.vote.is_open, self.vote.is_explained = False, True
            case "show":
                self.vote, self.shown = None, Belief(**data)
            case "clear":
                self.vote = self.shown = None

    def _free_name(self, name: str) -> str:
        """Return a name that no other learner has, so that nobody passes for somebody else."""
        names = {unicodedata.normalize("NFKC", each.name) for each in self.learners.values()}
        free, number = name, 2
        while unicodedata.normalize("NFKC", free) in names:
            free, number = f"{name} ({number})", number + 1
        return free


MAX_LEARNERS = 1_000
MAX_EVENTS = 3_000  # of one learner
MAX_REQUESTS = 60  # of one learner in ten seconds
MAX_NAME = 30  # characters
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without those that look alike
QUIET = "brave calm clever eager fair gentle happy honest jolly kind lucky merry proud quick quiet"
ANIMALS = "badger beaver crane dolphin falcon finch hare heron lynx otter owl panda robin seal swan"


class Session:
    """A running session: each event is stored in the log, then applied, then announced.

    Raises
    ------
    CourseError
        When the log cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.log = Log(file)
        self.room = Room()
        self.is_over = False
        self.may_end = asyncio.Event()  # once the learners have heard that it is over
        self.changed = asyncio.Event()  # set at the next change, and then replaced
        self._events: Counter[str] = Counter()  # how many there are, by learner
        self._requests: Counter[str] = Counter()  # by learner, in these ten seconds
        self._ten_seconds = 0  # since when, in such units
        stored = self.log.events()
        with self.log.explained():
            for event in stored:
                self._events[event.who] += 1
                self.room.take(event)
        if not self.room.code:
            code = "".join(secrets.choice(LETTERS) for _ in range(6))
            self.add("", "opened", {"code": code, "token": secrets.token_urlsafe(24)})

    def add(self, who: str, what: str, data: dict[str, Any], key: str = "") -> None:
        """Store an event and count it, unless one with the same key is there."""
        if who and self._events[who] >= MAX_EVENTS:
            raise web.HTTPError(429, reason="More events than a session needs")
        if event := self.log.append(who, key or secrets.token_hex(8), what, data):
            self._events[who] += 1
            self.room.take(event)
            self.tell()

    def tell(self) -> None:
        """Wake up all open pages."""
        self.changed.set()
        self.changed = asyncio.Event()

    def join(self, name: str) -> tuple[str, str]:
        """Let a learner in; return a secret, and the name that they chose or are given."""
        if len(self._events) > MAX_LEARNERS:  # those who left count too
            raise web.HTTPError(429, reason="The session is full")
        secret = secrets.token_urlsafe(24)
        made_up = f"{secrets.choice(QUIET.split())} {secrets.choice(ANIMALS.split())}"
        self.add(id_of(secret), "joined", {"name": visible_name(name) or made_up})
        return secret, self.room.learners[id_of(secret)].name

    def count_request(self, who: str) -> None:
        """Refuse a learner who sends too many requests."""
        now = int(time.monotonic() / 10)
        if now != self._ten_seconds:
            self._ten_seconds, self._requests = now, Counter()
        self._requests[who] += 1
        if self._requests[who] > MAX_REQUESTS:
            raise web.HTTPError(429, reason="Too many requests")

    def delete(self) -> None:
        """Delete all that is stored."""
        self.is_over = True
        self.log.close()
        self.log.file.unlink()
        self.tell()


def id_of(secret: str) -> str:
    """Return the id of the learner with this secret; the log stores ids, never secrets."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]
