"""The gradebook: one SQLite file of attempts and corrections."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from msgspec import to_builtins

from pytree_course.class_grading.attempt import Attempt
from pytree_course.class_grading.corrections import Correction, CorrectionKey
from pytree_course.course import CourseError
from pytree_course.observing.reading import read_as, read_json

VERSION = 5

_COLUMNS = ("student", "lesson", "answers_digest", "checks", "environment", "handed_in")
"""The fields of an attempt that have a column; `record` holds the others, as JSON."""

_TABLES = (
    """CREATE TABLE attempt (
        id INTEGER PRIMARY KEY,
        student TEXT NOT NULL,
        lesson TEXT NOT NULL,
        answers_digest TEXT NOT NULL,
        checks TEXT NOT NULL,
        environment TEXT NOT NULL,
        handed_in TEXT NOT NULL,
        record TEXT NOT NULL,
        UNIQUE (student, lesson, answers_digest, checks, environment)
    ) STRICT""",
    "CREATE TABLE correction (id INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT",
)


class Gradebook:
    """Every attempt of a class, in a file that is made if it is not there.

    Writes are durable: once `record` has returned, the attempt survives a crash.

    Raises
    ------
    CourseError
        When the file is no gradebook of this version, or cannot be made or opened.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._database = open_sqlite(file, _TABLES, VERSION)
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
        entries = to_builtins(attempt)
        columns = [entries.pop(name) for name in _COLUMNS]
        row = [*columns, json.dumps(entries, ensure_ascii=False)]
        _read_attempt(row)  # one that cannot be read again would damage the gradebook
        placeholders = ", ".join("?" * len(row))
        statement = f"REPLACE INTO attempt ({', '.join(_COLUMNS)}, record) VALUES ({placeholders})"
        with self._transaction():
            self._database.execute(statement, row)

    def attempts(self) -> list[Attempt]:
        """Return all attempts."""
        statement = f"SELECT {', '.join(_COLUMNS)}, record FROM attempt ORDER BY id"
        with self._reading():
            return [_read_attempt(row) for row in self._database.execute(statement)]

    def set_corrections(self, corrections: Iterable[Correction]) -> None:
        """Store all of a teacher's corrections, the earlier ones included."""
        records = [(json.dumps(to_builtins(correction)),) for correction in corrections]
        with self._transaction():
            self._database.execute("DELETE FROM correction")
            self._database.executemany("INSERT INTO correction (record) VALUES (?)", records)

    def corrections(self) -> dict[CorrectionKey, Correction]:
        """Return the teacher's corrections, by key."""
        with self._reading():
            rows = self._database.execute("SELECT record FROM correction ORDER BY id")
            corrections = [read_json(Correction, record) for (record,) in rows]
        return {correction.key: correction for correction in corrections}

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise a CourseError that says what to do, if the file is damaged or was edited."""
        try:
            yield
        except (sqlite3.DatabaseError, ValueError) as error:
            raise CourseError(
                f"{self.file} is damaged ({error}). Keep a copy of it, and grade into another "
                "folder, with --corrections FILE: what was handed in is graded there again."
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is written, or roll back and raise a CourseError that says what to do."""
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                yield
        except sqlite3.DatabaseError as error:
            raise CourseError(
                f"{self.file} cannot be written: {error}. See that there is room on its disk, that "
                "you may write to it, and that no other grading writes to it; then start again. "
                "What is in it is kept."
            ) from error


def _read_attempt(row: Sequence[str]) -> Attempt:
    """Read a stored attempt, or raise ValueError; its texts came from learners."""
    *columns, record = row
    entries = read_json(dict[str, Any], record)
    for name, text in zip(_COLUMNS, columns, strict=True):
        entries[name] = text
    attempt: Attempt = read_as(Attempt, entries)
    return attempt


def open_sqlite(file: Path, tables: Iterable[str], version: int) -> sqlite3.Connection:
    """Open an SQLite file of this version, or make it, readable by its owner alone.

    Raises
    ------
    OSError
        When it cannot be made.
    sqlite3.Error
        When it is not an SQLite file, or of another version: it is left as it is.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    database = sqlite3.connect(file, isolation_level=None)
    try:
        (stored_version,) = database.execute("PRAGMA user_version").fetchone()
        (count,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if stored_version == 0 and count == 0:
            with database:
                for statement in ("BEGIN IMMEDIATE", *tables, f"PRAGMA user_version = {version}"):
                    database.execute(statement)
        elif stored_version != version:
            raise sqlite3.DatabaseError("another version of the course or another program made it")
    except sqlite3.Error:
        database.close()
        raise
    return database
