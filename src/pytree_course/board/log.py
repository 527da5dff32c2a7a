"""The log of a session with a class: each event is in one SQLite file before it is acknowledged."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pytree_course.class_grading.sqlite_file import open_sqlite
from pytree_course.course import CourseError

_VERSION = 1
_TABLE = (
    "CREATE TABLE event (number INTEGER PRIMARY KEY, who TEXT NOT NULL, key TEXT NOT NULL, "
    "time TEXT NOT NULL, what TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (who, key)) STRICT"
)


class Event(NamedTuple):
    """Something that happened; `Room.take` says what there is."""

    number: int  # in the log, from 1
    who: str  # a learner's id; empty for the teacher
    time: datetime  # when it came
    what: str
    data: dict[str, Any]


class Log:
    """All events of a session, in a file that is made when it is not there; others can't read it.

    Raises
    ------
    CourseError
        When the file is no log, or cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        with self._explained():
            self._database = open_sqlite(file, [_TABLE], _VERSION)
            # What is written survives the end of this process, however it ends.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")

    def append(self, who: str, key: str, what: str, data: dict[str, Any]) -> Event | None:
        """Store an event; return None if there is one with this key from this learner already."""
        now = datetime.now(UTC)
        row = (who, key, now.isoformat(), what, json.dumps(data))
        statement = "INSERT OR IGNORE INTO event (who, key, time, what, data) VALUES "
        with self._explained():
            added = self._database.execute(f"{statement} (?, ?, ?, ?, ?)", row)
        return Event(added.lastrowid or 0, who, now, what, data) if added.rowcount else None

    def events(self) -> list[Event]:
        """Return all events, in the order in which they came."""
        with self._explained():
            rows = self._database.execute(
                "SELECT number, who, time, what, data FROM event ORDER BY number"
            )
            return [
                Event(number, who, datetime.fromisoformat(time), what, json.loads(data))
                for number, who, time, what, data in rows
            ]

    def close(self) -> None:
        """Close the file: nothing of it is left in files beside it."""
        self._database.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, ValueError) as error:
            raise CourseError(
                f"{self.file} cannot be used for a session with a class: {error}. It is left as it "
                "is. See that there is room on its disk, or name another file."
            ) from error
