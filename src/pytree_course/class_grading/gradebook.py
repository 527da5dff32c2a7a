"""The gradebook: one SQLite file of attempts and corrections."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from msgspec import to_builtins

from pytree_course.class_grading.attempt import Attempt, AttemptState
from pytree_course.class_grading.corrections import Correction, Place
from pytree_course.class_grading.sqlite_file import open_sqlite
from pytree_course.class_grading.student_files import EARLIEST
from pytree_course.course import CourseError
from pytree_course.observing.reading import Moment, read_as, read_json

VERSION = 5

_KEY = ("student", "lesson", "answers_digest", "checks", "environment")
_COLUMNS = (*_KEY, "handed_in")  # the record holds the rest of an attempt, as JSON
_TABLES = (
    f"CREATE TABLE attempt (id INTEGER PRIMARY KEY, {' TEXT NOT NULL, '.join(_COLUMNS)} "
    f"TEXT NOT NULL, record TEXT NOT NULL, UNIQUE ({', '.join(_KEY)})) STRICT",
    "CREATE TABLE correction (id INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT",
)


class Gradebook:
    """Every attempt of a class, in a file that is made when it is not there.

    It is durable: once `record` has returned, the attempt survives a crash.

    Raises
    ------
    CourseError
        When the file is no gradebook of this version, or cannot be made or opened.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._database = open_sqlite(file, _TABLES, VERSION)
            self._database.text_factory = lambda data: data.decode("utf-8", "replace")
            self._database.execute("PRAGMA synchronous = FULL")
        except (OSError, sqlite3.Error) as error:
            raise CourseError(
                f"{file} cannot be used as a gradebook: {error}. It is left as it is. Grade into "
                "another folder: what was handed in is graded there again."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def record(self, attempt: Attempt) -> None:
        """Store an attempt; it replaces one with the same key."""
        entries = to_builtins(attempt, builtin_types=(datetime,))
        entries |= {"handed_in": attempt.handed_in.isoformat()}
        columns = [entries.pop(name) for name in _COLUMNS]
        # A lone surrogate, as a damaged notebook may hold, is "?" from here on.
        record = json.dumps(entries, ensure_ascii=False, default=datetime.isoformat)
        record = record.encode("utf-8", "replace").decode()
        marks = ", ".join("?" * len(columns))
        statement = f"REPLACE INTO attempt ({', '.join(_COLUMNS)}, record) VALUES ({marks}, ?)"
        with self._transaction():
            self._database.execute(statement, [*columns, record])

    def attempts(self) -> list[Attempt]:
        """Return all attempts; one that cannot be read has failed, and says so."""
        rows = self._stored(f"SELECT {', '.join(_COLUMNS)}, record FROM attempt ORDER BY id")
        return [_attempt(dict(zip(_COLUMNS, row, strict=False)), row[-1]) for row in rows]

    def set_corrections(self, corrections: Iterable[Correction]) -> None:
        """Store all of a teacher's corrections, the earlier ones included."""
        records = [(json.dumps(to_builtins(correction)),) for correction in corrections]
        with self._transaction():
            self._database.execute("DELETE FROM correction")
            self._database.executemany("INSERT INTO correction (record) VALUES (?)", records)

    def corrections(self) -> dict[Place, Correction]:
        """Return the teacher's corrections, by what each is about."""
        try:
            stored = [
                read_json(Correction, record)
                for (record,) in self._stored("SELECT record FROM correction ORDER BY id")
            ]
        except ValueError as error:
            raise CourseError(
                f"A correction in {self.file} cannot be read ({error}). Keep a copy of it, and "
                "grade into another folder, with --corrections FILE."
            ) from error
        return {attempt.place: attempt for attempt in stored}

    def _stored(self, statement: str) -> list[Any]:
        try:
            return self._database.execute(statement).fetchall()
        except sqlite3.DatabaseError as error:
            raise CourseError(
                f"{self.file} is damaged ({error}). Keep a copy of it, and grade into another "
                "folder: what was handed in is graded there again."
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._database:  # it commits, or rolls back
                self._database.execute("BEGIN IMMEDIATE")
                yield
        except sqlite3.DatabaseError as error:
            raise CourseError(
                f"{self.file} cannot be written: {error}. See that there is room on its disk, that "
                "you may write to it, and that no other grading writes to it; then start again. "
                "What is in it is kept."
            ) from error


def _attempt(columns: dict[str, Any], record: str) -> Attempt:
    """Read a stored attempt; its texts came from learners, and the file may have been edited."""
    entries: dict[str, Any] = {}
    try:
        entries = read_json(dict[str, Any], record)
        return read_as(Attempt, entries | columns)
    except ValueError as why:
        error = why
    # What has no time at all is taken for the first one: it is graded again if it is still there.
    handed_in = _time(columns["handed_in"]) or _time(entries.get("graded_at")) or EARLIEST
    return Attempt(
        **columns | {"handed_in": handed_in},
        graded_at=handed_in,
        state=AttemptState.FAILED,
        seed=0,
        reason=(
            f"The record of this notebook in the gradebook cannot be read ({error}). Where the "
            "notebook is still there, the next grading runs it again."
        ),
    )


def _time(stored: Any) -> datetime | None:
    try:
        return read_as(Moment, stored)
    except ValueError:
        return None
