"""The gradebook: one SQLite file of all attempts, each written as a whole."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from pytree_course.classroom.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.classroom.downloads import Submitter
from pytree_course.classroom.handing_in import EARLIEST
from pytree_course.course import CourseError

VERSION = 1

_KEY = ("student", "lesson", "answers_digest", "checks", "environment")


@dataclass(frozen=True)
class _Storage:
    """How values of a Python type are stored."""

    sql: str
    encode: Callable[[Any], object]
    decode: Callable[[Any], Any]
    instead: Any  # of what cannot be read


def _text(value: str) -> str:
    """Return a text without halves of characters, which are in no encoding."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _json(value: object) -> str:
    return _text(json.dumps(value, ensure_ascii=False))


_STORAGES = {
    str: _Storage("TEXT", _text, str, ""),
    int: _Storage("INTEGER", int, int, 0),
    float: _Storage("REAL", float, float, 0.0),
    datetime: _Storage("TEXT", datetime.isoformat, datetime.fromisoformat, EARLIEST),
    AttemptState: _Storage("TEXT", str, AttemptState, AttemptState.FAILED),
    dict: _Storage("TEXT", _json, json.loads, {}),
    list: _Storage("TEXT", _json, json.loads, []),
}
_NOT_READ = (
    "What the gradebook holds of this notebook cannot be read ({columns}); where the notebook is "
    "still there, the next grading runs it again."
)


class _Columns:
    """The columns that a dataclass's fields make.

    Those that came `later` hold lists. Gradebooks of this version that were made without them get
    them when they are opened.
    """

    def __init__(self, row: type, leave_out: str = "", later: Sequence[str] = ()) -> None:
        self.storages: dict[str, _Storage] = {}
        definitions = {}
        for name, hint in get_type_hints(row).items():
            if name == leave_out:
                continue
            # `str | None` is the type str, and may be NULL.
            kind, *none = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            storage = self.storages[name] = _STORAGES[get_origin(kind) or kind]
            definitions[name] = f"{name} {storage.sql}" + ("" if none else " NOT NULL")
            if name in later:
                definitions[name] += " DEFAULT '[]'"
        self.definitions = ", ".join(definitions.values())
        self.later = {name: definitions[name] for name in later}
        self.names = ", ".join(self.storages)

    def encode(self, row: object) -> dict[str, object]:
        values = {name: getattr(row, name) for name in self.storages}
        return {
            name: None if value is None else self.storages[name].encode(value)
            for name, value in values.items()
        }

    def decode(self, values: Sequence[Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the values by name, and the names of those that could not be read."""
        decoded: dict[str, Any] = {}
        broken = []
        for (name, storage), value in zip(self.storages.items(), values, strict=True):
            try:
                decoded[name] = None if value is None else storage.decode(value)
            except (ValueError, TypeError, RecursionError):
                decoded[name] = deepcopy(storage.instead)
                broken.append(name)
        return decoded, broken


_ATTEMPT = _Columns(Attempt, leave_out="rows")
_VERDICT = _Columns(VerdictRow, later=("reasons", "lines", "failed"))
_SUBMITTER = _Columns(Submitter)
# The seeds of a grading that has not come to its end: one for each of a student's tries.
_RUN = (
    "CREATE TABLE run (lesson TEXT NOT NULL, try INTEGER NOT NULL, seed INTEGER NOT NULL, "
    "PRIMARY KEY (lesson, try)) STRICT"
)
_TABLES = (
    f"CREATE TABLE attempt (id INTEGER PRIMARY KEY, {_ATTEMPT.definitions}, "
    f"UNIQUE ({', '.join(_KEY)})) STRICT",
    _RUN,
    "CREATE TABLE verdict (attempt INTEGER NOT NULL REFERENCES attempt ON DELETE CASCADE, "
    f"position INTEGER NOT NULL, {_VERDICT.definitions}, PRIMARY KEY (attempt, exercise)) "
    "STRICT, WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)
# Gradebooks of this version that were made earlier get them when they are opened.
_LATER_TABLES = (
    f"CREATE TABLE IF NOT EXISTS submitter ({_SUBMITTER.definitions}, PRIMARY KEY (id)) STRICT",
    "CREATE TABLE IF NOT EXISTS not_run (student TEXT NOT NULL, lesson TEXT NOT NULL, "
    "remark TEXT NOT NULL, PRIMARY KEY (student, lesson)) STRICT",
)


class Gradebook:
    """Every attempt of a class, in a file that is made when it is not there.

    It is durable: what `record` has returned from survives whatever happens next.

    Raises
    ------
    CourseError
        When the file is no gradebook of this version, or cannot be made.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, isolation_level=None)
            self._database.text_factory = lambda data: data.decode("utf-8", "replace")
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.execute("PRAGMA synchronous = FULL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            tables = self._database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if version == 0 and tables == 0:
                with self._transaction():
                    for statement in _TABLES:
                        self._database.execute(statement)
            elif version != VERSION:
                raise sqlite3.DatabaseError("it is not one of this course's version")
            self._bring_up_to_date()
        except sqlite3.DatabaseError as error:
            raise CourseError(
                f"{file} cannot be used as a gradebook: {error}. Keep it, and grade into "
                "another folder."
            ) from error
        except OSError as error:
            raise CourseError(
                f"{file.parent} cannot be made ({error}). Name a folder that you may write to."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def record(self, attempt: Attempt) -> None:
        """Store an attempt; it replaces one with the same key."""
        with self._transaction():
            number = self._write("REPLACE", "attempt", _ATTEMPT.encode(attempt))
            for position, row in enumerate(attempt.rows):
                place = {"attempt": number, "position": position}
                self._write("INSERT", "verdict", place | _VERDICT.encode(row))

    def attempts(self) -> list[Attempt]:
        """Return all attempts, the oldest first; one that cannot be read has failed."""
        attempts = self._database.execute(
            f"SELECT id, {_ATTEMPT.names} FROM attempt ORDER BY handed_in, graded_at, id"
        ).fetchall()
        rows = defaultdict(list)
        broken = defaultdict(set)
        for number, *values in self._database.execute(
            f"SELECT attempt, {_VERDICT.names} FROM verdict ORDER BY position"
        ):
            decoded, not_read = _VERDICT.decode(values)
            rows[number].append(VerdictRow(**decoded))
            broken[number].update(not_read)
        return [_attempt(values, rows[number], broken[number]) for number, *values in attempts]

    def introduce(self, submitters: Sequence[Submitter]) -> None:
        """Remember whom a download named: the next one, of another lesson, may leave them out."""
        with self._transaction():
            for each in submitters:
                self._write("REPLACE", "submitter", _SUBMITTER.encode(each))

    def submitters(self) -> dict[str, Submitter]:
        """Return those who handed in, by their ids, as the downloads named them last."""
        rows = self._database.execute(f"SELECT {_SUBMITTER.names} FROM submitter")
        found = (Submitter(**_SUBMITTER.decode(row)[0]) for row in rows)
        return {each.id: each for each in found}

    def note_not_run(self, remarks: Mapping[tuple[str, str], str]) -> None:
        """Remember, by student and lesson, what was not run; an empty remark is forgotten."""
        with self._transaction():
            for (student, lesson), remark in remarks.items():
                place: dict[str, object] = {"student": student, "lesson": lesson}
                self._database.execute(
                    "DELETE FROM not_run WHERE student = :student AND lesson = :lesson", place
                )
                if remark:
                    self._write("INSERT", "not_run", place | {"remark": remark})

    def not_run(self) -> dict[tuple[str, str], str]:
        """Return, by student and lesson, what was not run."""
        rows = self._database.execute("SELECT student, lesson, remark FROM not_run")
        return {(student, lesson): remark for student, lesson, remark in rows}

    def seed_of_run(self, lesson: str, at: int, fresh: int) -> int:
        """Return a seed of an interrupted grading of the lesson, or start one with `fresh`.

        A grading has several, `at` is 0 for the first: each of a student's tries has its own.
        """
        with self._transaction():
            self._database.execute(
                "INSERT OR IGNORE INTO run VALUES (?, ?, ?)", (lesson, at, fresh)
            )
            found = self._database.execute(
                "SELECT seed FROM run WHERE lesson = ? AND try = ?", (lesson, at)
            )
            return int(found.fetchone()[0])

    def finish_runs(self) -> None:
        """Forget the seeds: the grading has come to its end."""
        with self._transaction():
            self._database.execute("DELETE FROM run")

    def _bring_up_to_date(self) -> None:
        """Give a gradebook of this version that was made earlier what came later."""
        for statement in _LATER_TABLES:
            self._database.execute(statement)
        for name, definition in _VERDICT.later.items():
            if name not in self._columns("verdict"):
                self._database.execute(f"ALTER TABLE verdict ADD COLUMN {definition}")
        if "try" not in self._columns("run"):
            with self._transaction():
                self._database.execute("ALTER TABLE run RENAME TO run_of_one")
                self._database.execute(_RUN)
                self._database.execute("INSERT INTO run SELECT lesson, 0, seed FROM run_of_one")
                self._database.execute("DROP TABLE run_of_one")

    def _columns(self, table: str) -> set[str]:
        return {name for _, name, *_ in self._database.execute(f"PRAGMA table_info({table})")}

    def _write(self, verb: str, table: str, values: Mapping[str, object]) -> int | None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"{verb} INTO {table} ({names}) VALUES ({marks})"
        return self._database.execute(statement, [*values.values()]).lastrowid

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                # A full disk may have rolled it back already.
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{self.file} cannot be written: {error}. See that there is room on its disk, that "
                "you may write to it, and that no other grading writes to it; then start again. "
                "What is in it is kept."
            ) from error


def _attempt(values: Sequence[Any], rows: list[VerdictRow], broken: set[str]) -> Attempt:
    """Make an attempt of what is stored, also where some of it cannot be read."""
    decoded, not_read = _ATTEMPT.decode(values)
    broken = broken | {*not_read}
    if broken:
        reason = _NOT_READ.format(columns=", ".join(sorted(broken)))
        decoded |= {"state": AttemptState.FAILED, "reason": reason}
        rows = [
            VerdictRow(row.exercise, decoded["state"], 0, row.exercise_points, explanation=reason)
            for row in rows
        ]
    return Attempt(**decoded, rows=rows)
