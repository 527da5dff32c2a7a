"""The log of a session with a class: a file with everything that happened, in order."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pytree_course.class_grading.gradebook import open_sqlite
from pytree_course.course import CourseError

_VERSION = 3
_TABLE = (
    "CREATE TABLE entry (number INTEGER PRIMARY KEY, learner_id TEXT NOT NULL, "
    "key TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, "
    "UNIQUE (learner_id, key)) STRICT"
)


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
