"""The gradebook: one SQLite file of a class's attempts, and of what is remembered of it."""

import json
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from msgspec import Struct, field, structs, to_builtins

from pytree_course.class_grading.attempt import Attempt
from pytree_course.class_grading.corrections import Correction
from pytree_course.class_grading.downloads import Submitter
from pytree_course.class_grading.roster import RosterEntry
from pytree_course.class_grading.student_files import LeftOut
from pytree_course.course import CourseError
from pytree_course.observing.reading import Count, Moment, read_json
from pytree_course.running.outcomes import SEED_BITS

VERSION = 8

# Records are JSON; the columns of an attempt's are for people who look into the file.
_TABLES = (
    """CREATE TABLE attempt (
        id INTEGER PRIMARY KEY,
        record TEXT NOT NULL,
        student TEXT AS (json_extract(record, '$.student')),
        lesson TEXT AS (json_extract(record, '$.lesson'))
    ) STRICT""",
    "CREATE TABLE results (digest TEXT PRIMARY KEY, compressed BLOB NOT NULL) STRICT",
    "CREATE TABLE memory (record TEXT NOT NULL) STRICT",
)


class Memory(Struct, frozen=True, forbid_unknown_fields=True):
    """What the gradebook remembers of a class from one grading to the next."""

    roster: list[RosterEntry] = field(default_factory=list)
    canvas_columns: list[str] = field(default_factory=list)  # of assignments, in its roster
    due: dict[str, Moment] = field(default_factory=dict)  # by lesson
    seeds: dict[str, Count] = field(default_factory=dict)  # of a lesson's cases
    corrections: list[Correction] = field(default_factory=list)  # the teacher's
    submitters: dict[str, Submitter] = field(default_factory=dict)
    """Everyone who handed in something, by id."""
    left_out: list[LeftOut] = field(default_factory=list)  # files that are not graded
    reported_attempts: Count = 0  # how many of the attempts the last report was about
    reported_corrections: list[Correction] = field(default_factory=list)
    reported_roster: list[RosterEntry] = field(default_factory=list)


class Gradebook:
    """Every attempt of a class, in a file that is made if it is not there.

    Writes are durable: once `record` has returned, the attempt survives a crash. Attempts are added
    and never changed.

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

    def seed(self, lesson: str) -> int:
        """Return the seed of a lesson's cases, the same for the whole class; draw it if needed."""
        if lesson not in self.memory().seeds:
            self.draw_seed(lesson)
        return self.memory().seeds[lesson]

    def draw_seed(self, lesson: str) -> None:
        """Draw another seed for a lesson: from now on, the class is graded on new cases."""
        self.remember(seeds=self.memory().seeds | {lesson: secrets.randbits(SEED_BITS)})

    def record(self, attempt: Attempt, results: Mapping[str, str] = MappingProxyType({})) -> None:
        """Add an attempt, with the texts of the results that its rows name by their digests."""
        record = json.dumps(to_builtins(attempt), ensure_ascii=False)
        read_json(Attempt, record)  # one that cannot be read again would damage the gradebook
        compressed = [(key, zlib.compress(text.encode())) for key, text in results.items()]
        with self._transaction():
            self._database.execute("INSERT INTO attempt (record) VALUES (?)", [record])
            self._database.executemany("INSERT OR IGNORE INTO results VALUES (?, ?)", compressed)

    def results(self, key: str) -> str:
        """Return the text of recorded results, as JSON; "" if there are none."""
        statement = "SELECT compressed FROM results WHERE digest = ?"
        with self._reading():
            row = self._database.execute(statement, [key]).fetchone()
            return zlib.decompress(row[0]).decode() if row else ""

    def attempts(self) -> list[Attempt]:
        """Return all attempts, in the order in which they were recorded."""
        with self._reading():
            rows = self._database.execute("SELECT record FROM attempt ORDER BY id")
            return [read_json(Attempt, record) for (record,) in rows]

    def memory(self) -> Memory:
        """Return what is remembered of the class."""
        with self._reading():
            row = self._database.execute("SELECT record FROM memory").fetchone()
            return read_json(Memory, row[0]) if row else Memory()

    def remember(self, **changes: Any) -> None:
        """Change some fields of what is remembered of the class."""
        with self._transaction():  # another grading may remember something else meanwhile
            memory = structs.replace(self.memory(), **changes)
            self._database.execute("DELETE FROM memory")
            record = json.dumps(to_builtins(memory), ensure_ascii=False)
            self._database.execute("INSERT INTO memory VALUES (?)", [record])

    def remember_report(self) -> None:
        """Remember that a report has told all that the gradebook holds now."""
        (attempts,) = self._database.execute("SELECT count(*) FROM attempt").fetchone()
        memory = self.memory()
        self.remember(
            reported_attempts=attempts,
            reported_corrections=memory.corrections,
            reported_roster=memory.roster,
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise a CourseError that says what to do, if the file is damaged or was edited."""
        try:
            yield
        except (sqlite3.DatabaseError, zlib.error, ValueError) as error:
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
