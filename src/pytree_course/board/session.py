"""A session with a class: its log, the state that follows from it, and what changes both."""

import asyncio
import hashlib
import json
import secrets
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pytree_course.class_grading.gradebook import open_sqlite
from pytree_course.course import CourseError
from pytree_course.judging.expected import Belief
from pytree_course.notebook.class_protocol import Note

MAX_NAME = 30  # characters
MAX_SENT = 3_000  # checks and votes of a learner: one every ten seconds for eight hours
NEVER = datetime.min.replace(tzinfo=UTC)
_SIGNS_IN_NAMES = " -'’.,()&+_"
_CODE_LENGTH = 6
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without those that look alike
_ADJECTIVES = (
    "brave calm clever eager fair gentle happy honest jolly kind lucky merry proud quick quiet"
)
_ANIMALS = (
    "badger beaver crane dolphin falcon finch hare heron lynx otter owl panda robin seal swan"
)
_VERSION = 3
_TABLE = (
    "CREATE TABLE entry (number INTEGER PRIMARY KEY, learner_id TEXT NOT NULL, "
    "key TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, "
    "UNIQUE (learner_id, key)) STRICT"
)


# --- the log


class Entry(NamedTuple):
    """An entry of the log; `Room.apply` lists the kinds."""

    number: int  # in the log, from 1
    learner_id: str  # empty for the teacher
    time: datetime  # of its arrival
    kind: str
    data: dict[str, Any]


class Log:
    """A session's log, in a file that only its owner can read; it is made if it is missing.

    All methods raise CourseError if the file cannot be read or written, is not a log, or if
    another version of the course made it.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        with _explain_errors(file):
            self._database = open_sqlite(file, [_TABLE], _VERSION)
            # What is written survives the end of this process, however it ends.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")

    def append(self, learner_id: str, key: str, kind: str, data: dict[str, Any]) -> Entry | None:
        """Store an entry; return None if this learner already has one with this key."""
        now = datetime.now(UTC)
        with _explain_errors(self.file):
            added = self._database.execute(
                "INSERT OR IGNORE INTO entry (learner_id, key, time, kind, data) "
                "VALUES (?, ?, ?, ?, ?)",
                (learner_id, key, now.isoformat(), kind, json.dumps(data)),
            )
        if not added.rowcount:
            return None
        return Entry(added.lastrowid or 0, learner_id, now, kind, data)

    def entries(self) -> list[Entry]:
        """Return all entries, in the order of their arrival."""
        with _explain_errors(self.file):
            rows = self._database.execute(
                "SELECT number, learner_id, time, kind, data FROM entry ORDER BY number"
            ).fetchall()
        return [
            Entry(number, learner_id, datetime.fromisoformat(time), kind, json.loads(data))
            for number, learner_id, time, kind, data in rows
        ]

    def close(self) -> None:
        """Close the file; SQLite removes the files beside it."""
        self._database.close()


@contextmanager
def _explain_errors(file: Path) -> Iterator[None]:
    """Raise a CourseError that says what to do when a file cannot be read or written."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise CourseError(
            f"{file} cannot be used for a session with a class: {error}. It is left as it "
            "is. Name another file, or see that there is room on its disk."
        ) from error


# --- the state


def clean_name(name: str) -> str:
    """Keep a name's letters, marks, digits, spaces and usual signs; shorten it."""
    usual = "".join(filter(_is_usual_in_names, unicodedata.normalize("NFC", name)))
    return " ".join(usual.split())[:MAX_NAME]


def _is_usual_in_names(character: str) -> bool:
    is_letter_mark_or_digit = unicodedata.category(character)[0] in "LMN"
    return is_letter_mark_or_digit or character.isspace() or character in _SIGNS_IN_NAMES


class CaseKey(NamedTuple):
    """A case of an exercise."""

    exercise: str
    case: str  # its number, as in `Question.case`


@dataclass
class Work:
    """A learner's work on one exercise."""

    failures: int = 0  # before the first right check
    equal_failures: int = 0  # of the last checks, with the same misconceptions, until it is solved
    misconceptions: list[str] = field(default_factory=list)  # of the last check
    is_solved: bool = False
    last_checked: datetime = NEVER

    def add_check(self, time: datetime, misconceptions: list[str], *, is_right: bool) -> None:
        """Count a check."""
        if is_right:
            self.is_solved = True
        else:
            if misconceptions != self.misconceptions:
                self.equal_failures = 0
            self.equal_failures += 1
            if not self.is_solved:
                self.failures += 1
        self.misconceptions = misconceptions
        self.last_checked = time


@dataclass
class Learner:
    """A learner in the room."""

    name: str
    sent: int = 0  # checks and votes
    work: dict[tuple[str, str], Work] = field(default_factory=lambda: defaultdict(Work))
    """By lesson and exercise, also those that the learner has not begun."""


@dataclass
class VoteRound:
    """A round of a vote on a question, open or closed."""

    number: int
    about: Belief
    case: str  # of the question
    earlier_round: "VoteRound | None" = None
    choices: dict[str, str] = field(default_factory=dict)  # letters, by learner's id
    is_open: bool = True
    is_explained: bool = False

    @property
    def counts(self) -> Counter[str]:
        """How many learners chose each letter."""
        return Counter(self.choices.values())


class Room:
    """The state of a session, derived from the entries of its log."""

    def __init__(self) -> None:
        self.code = ""  # with which learners join
        self.token = ""  # that the teacher's pages ask for
        self.learners: dict[str, Learner] = {}  # by id, without those who left
        self.lesson = ""  # that the board shows
        self.lesson_began: datetime | None = None
        self.note: Note | None = None  # the last one, until it is taken back
        self.vote: VoteRound | None = None  # the last round
        self.cases_voted_on: set[CaseKey] = set()
        self.projected: Belief | None = None  # whose feedback the projector shows

    def apply(self, entry: Entry) -> None:
        """Change the state by an entry; ignore it if its learner or vote is gone."""
        data = entry.data
        # The teacher's entries name the learner to rename or to remove; others have a sender.
        learner_id = data.get("learner_id", entry.learner_id)
        learner = self.learners.get(learner_id)
        match entry.kind:
            case "opened":
                self.code, self.token = data["code"], data["token"]
            case "joined":
                self.learners[learner_id] = Learner(self._free_name(data["name"]))
                self.lesson_began = self.lesson_began or entry.time
            case "left" | "remove":
                self.learners.pop(learner_id, None)
            case "rename" if learner:
                learner.name = ""  # so that the new name may be like the old one
                learner.name = self._free_name(data["name"])
            case "checked" if learner:
                self.lesson = self.lesson or data["lesson"]
                work = learner.work[data["lesson"], data["exercise"]]
                work.add_check(entry.time, data["misconceptions"], is_right=data["is_right"])
                learner.sent += 1
            case "voted" if learner and self.vote and self.vote.number == data["vote"]:
                self.vote.choices[learner_id] = data["choice"]
                learner.sent += 1
            case "begin":
                self.lesson, self.lesson_began = data["lesson"], entry.time
            case "note":
                self.note = Note(entry.number, data["text"])
            case "take back":
                self.note = None
            case "ask":
                about = Belief(data["lesson"], data["exercise"], data["name"])
                self.vote = VoteRound(entry.number, about, data["case"])
                self.projected = None
                self.cases_voted_on.add(CaseKey(about.exercise, data["case"]))
            case "ask again" if self.vote:
                self.vote = VoteRound(entry.number, self.vote.about, self.vote.case, self.vote)
            case "close" if self.vote:
                self.vote.is_open = False
            case "explain" if self.vote:
                self.vote.is_open, self.vote.is_explained = False, True
            case "show":
                self.vote, self.projected = None, Belief(**data)
            case "clear":
                self.vote = self.projected = None

    def _free_name(self, name: str) -> str:
        """Return a name that no other learner has, so that nobody can pose as somebody else."""
        names = {learner.name for learner in self.learners.values()}
        free_name, number = name, 2
        while free_name in names:
            free_name, number = f"{name} ({number})", number + 1
        return free_name


class Session:
    """A running session: each entry is stored in the log, then applied to the room.

    All methods raise CourseError if the log cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.log = Log(file)
        self.room = Room()
        self.over = asyncio.Event()
        for entry in self.log.entries():
            self.room.apply(entry)
        if not self.room.code:
            code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
            self.add("", "opened", {"code": code, "token": secrets.token_urlsafe(24)})

    def add(self, learner_id: str, kind: str, data: dict[str, Any]) -> None:
        """Store an entry and apply it."""
        self.add_once(learner_id, secrets.token_hex(8), kind, data)

    def add_once(self, learner_id: str, key: str, kind: str, data: dict[str, Any]) -> None:
        """Store an entry and apply it, unless the learner already has one with this key."""
        entry = self.log.append(learner_id, key, kind, data)
        if entry:
            self.room.apply(entry)

    def join(self, name: str) -> tuple[str, str]:
        """Let a learner in; return a secret, and their name: the chosen one or a made-up one."""
        secret = secrets.token_urlsafe(24)
        learner_id = id_from_secret(secret)
        made_up = f"{secrets.choice(_ADJECTIVES.split())} {secrets.choice(_ANIMALS.split())}"
        self.add(learner_id, "joined", {"name": clean_name(name) or made_up})
        return secret, self.room.learners[learner_id].name

    def delete(self) -> None:
        """Delete everything that is stored, and end the session."""
        self.over.set()
        self.log.close()
        self.log.file.unlink()


def id_from_secret(secret: str) -> str:
    """Return the id of the learner with this secret; the log stores ids, never secrets."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]
