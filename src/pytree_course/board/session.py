"""A session while it runs: what happens is stored, then counted, then told to all open pages."""

import asyncio
import hashlib
import secrets
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tornado import web

from pytree_course.board.log import Log
from pytree_course.board.room import Room, visible_name

MOST_LEARNERS = 1_000
MOST_EVENTS = 3_000  # of one learner
MOST_REQUESTS = 60  # of one learner in ten seconds
LONGEST_NAME = 30  # characters
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without those that look alike
QUIET = "brave calm clever eager fair gentle happy honest jolly kind lucky merry proud quick quiet"
ANIMALS = "badger beaver crane dolphin falcon finch hare heron lynx otter owl panda robin seal swan"


class Session:
    """The room, whose every event is in the log before anybody is told that it was taken.

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
        for event in self.log.events():
            self._events[event.who] += 1
            self.room.take(event)
        if not self.room.code:
            code = "".join(secrets.choice(LETTERS) for _ in range(6))
            self.add("", "opened", {"code": code, "token": secrets.token_urlsafe(24)})

    def add(self, who: str, what: str, data: dict[str, Any], key: str = "") -> None:
        """Store an event and count it, unless one with the same key is there."""
        if who and self._events[who] >= MOST_EVENTS:
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
        if len(self._events) > MOST_LEARNERS:  # those who left count too
            raise web.HTTPError(429, reason="The session is full")
        name = " ".join(visible_name(name).split())[:LONGEST_NAME]
        secret = secrets.token_urlsafe(24)
        made_up = f"{secrets.choice(QUIET.split())} {secrets.choice(ANIMALS.split())}"
        self.add(id_of(secret), "joined", {"name": name or made_up})
        return secret, self.room.learners[id_of(secret)].name

    def count_request(self, who: str) -> None:
        """Refuse a learner who asks too often."""
        now = int(time.monotonic() / 10)
        if now != self._ten_seconds:
            self._ten_seconds, self._requests = now, Counter()
        self._requests[who] += 1
        if self._requests[who] > MOST_REQUESTS:
            raise web.HTTPError(429, reason="Too many requests")

    def delete(self) -> None:
        """Delete all that is stored."""
        self.is_over = True
        self.log.close()
        self.log.file.unlink()
        self.tell()


def id_of(secret: str) -> str:
    """Return whose secret it is: the log holds none that could be used."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]
