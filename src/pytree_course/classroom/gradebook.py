"""The gradebook: one SQLite file that holds every attempt, written a whole attempt at a time."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pytree_course.course import CourseError

VERSION = 1

_TABLES = """
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    lesson TEXT NOT NULL,
    file TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    answers TEXT NOT NULL,      -- JSON: source by exercise
    answers_digest TEXT NOT NULL,
    release TEXT,               -- the stamp of the release that the notebook comes from
    checks TEXT NOT NULL,
    environment TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    seconds REAL NOT NULL,
    graded_at TEXT NOT NULL,
    UNIQUE (student, lesson, answers_digest, checks, environment)
) STRICT;
CREATE TABLE run (
    lesson TEXT PRIMARY KEY,
    seed INTEGER NOT NULL          -- of a grading that has not come to its end
) STRICT;
CREATE TABLE verdict (
    attempt INTEGER NOT NULL REFERENCES attempt ON DELETE CASCADE,
    position INTEGER NOT NULL,
    exercise TEXT NOT NULL,
    kind TEXT NOT NULL,
    points INTEGER NOT NULL,
    exercise_points INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    cases INTEGER NOT NULL,
    seconds REAL NOT NULL,
    explanation TEXT NOT NULL,
    misconceptions TEXT NOT NULL,  -- JSON: names
    failure TEXT,                  -- JSON: the smallest case that failed, without what is expected
    results TEXT,                  -- a digest: equal wrong results on the same cases are equal here
    PRIMARY KEY (attempt, exercise)
) STRICT, WITHOUT ROWID;
"""


class AttemptState(StrEnum):
    """How grading an attempt ended."""

    GRADED = "graded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """Through no fault of the student: it will be tried again."""


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise's verdict, as the gradebook keeps it.

    Attributes
    ----------
    kind
        A `VerdictKind`; or the attempt's state, where it was not graded.
    seconds
        What the answer and its check took.
    explanation
        A sentence or two for a table.
    misconceptions
        The names of the misconceptions that explain it.
    failure
        The smallest case that failed: `inputs`, `written`, `got`, `printed`, `line`, `note`. What
        is expected is not kept: it may be a case that no learner has seen.
    results
        A digest of all that came out wrong; None unless something came out.
    """

    exercise: str
    kind: str
    exercise_points: int
    points: int = 0
    passed: int = 0
    cases: int = 0
    seconds: float = 0.0
    explanation: str = ""
    misconceptions: list[str] = field(default_factory=list)
    failure: dict[str, Any] | None = None
    results: str | None = None


@dataclass(frozen=True)
class Attempt:
    """One graded attempt at the exercises of a lesson.

    Attributes
    ----------
    answers
        Source of the answer cells that the student worked in, by exercise.
    answers_digest, checks, environment
        Together the key: what is equal in all three need not be run again.
    release
        The stamp of the release that the notebook comes from, if it has one.
    seconds
        How long grading it took.
    """

    student: str
    lesson: str
    file: str
    handed_in: datetime
    answers: dict[str, str]
    answers_digest: str
    release: str | None
    checks: str
    environment: str
    seed: int
    state: AttemptState
    reason: str
    seconds: float
    graded_at: datetime
    rows: list[ExerciseRow] = field(default_factory=list)

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(row.points for row in self.rows)

    @property
    def all_points(self) -> int:
        """Points to be had."""
        return sum(row.exercise_points for row in self.rows)


class Gradebook:
    """Every attempt of a class. What `record` has returned from is kept, whatever happens next.

    Parameters
    ----------
    file
        The SQLite file; it is made when it is not there.

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
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.execute("PRAGMA synchronous = FULL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            tables = self._database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if version == 0 and tables == 0:
                with self._transaction():
                    for statement in _TABLES.split(";\n"):
                        self._database.execute(statement)
                    self._database.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                raise CourseError(
                    f"{file} is not a gradebook of this course's version. Keep it, and grade into "
                    "another folder."
                )
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
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def record(self, attempt: Attempt) -> None:
        """Keep an attempt; one with the same key is replaced."""
        key = (
            attempt.student,
            attempt.lesson,
            attempt.answers_digest,
            attempt.checks,
            attempt.environment,
        )
        with self._transaction():
            self._database.execute(
                "DELETE FROM attempt WHERE student = ? AND lesson = ? AND answers_digest = ? "
                "AND checks = ? AND environment = ?",
                key,
            )
            inserted = self._database.execute(
                "INSERT INTO attempt (student, lesson, file, handed_in, answers, answers_digest, "
                "release, checks, environment, seed, state, reason, seconds, graded_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    attempt.student,
                    attempt.lesson,
                    attempt.file,
                    attempt.handed_in.isoformat(),
                    json.dumps(attempt.answers),
                    attempt.answers_digest,
                    attempt.release,
                    attempt.checks,
                    attempt.environment,
                    attempt.seed,
                    str(attempt.state),
                    attempt.reason,
                    attempt.seconds,
                    attempt.graded_at.isoformat(),
                ),
            )
            self._database.executemany(
                "INSERT INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        inserted.lastrowid,
                        position,
                        row.exercise,
                        row.kind,
                        row.points,
                        row.exercise_points,
                        row.passed,
                        row.cases,
                        row.seconds,
                        row.explanation,
                        json.dumps(row.misconceptions),
                        None if row.failure is None else json.dumps(row.failure),
                        row.results,
                    )
                    for position, row in enumerate(attempt.rows)
                ],
            )

    def seed_of_run(self, lesson: str, fresh: int) -> int:
        """Return the seed of the grading under way: a resumed one goes on with the same cases.

        Parameters
        ----------
        lesson
            The lesson's stem.
        fresh
            The seed to use when no grading of this lesson was interrupted.
        """
        with self._transaction():
            self._database.execute("INSERT OR IGNORE INTO run VALUES (?, ?)", (lesson, fresh))
            found = self._database.execute("SELECT seed FROM run WHERE lesson = ?", (lesson,))
            return int(found.fetchone()[0])

    def finish_runs(self) -> None:
        """Forget the seeds: the grading under way has come to its end."""
        with self._transaction():
            self._database.execute("DELETE FROM run")

    def attempts(self, student: str | None = None, lesson: str | None = None) -> list[Attempt]:
        """Return the attempts, of one student or at one lesson if told so, the oldest first."""
        found = self._database.execute(
            "SELECT * FROM attempt WHERE (?1 IS NULL OR student = ?1) "
            "AND (?2 IS NULL OR lesson = ?2) ORDER BY handed_in, graded_at, id",
            (student, lesson),
        )
        names = [column[0] for column in found.description]
        return [self._attempt(dict(zip(names, row, strict=True))) for row in found.fetchall()]

    def _attempt(self, row: dict[str, Any]) -> Attempt:
        verdicts = self._database.execute(
            "SELECT exercise, kind, points, exercise_points, passed, cases, seconds, explanation, "
            "misconceptions, failure, results FROM verdict WHERE attempt = ? ORDER BY position",
            (row.pop("id"),),
        )
        names = [column[0] for column in verdicts.description]
        rows = []
        for values in verdicts:
            verdict = dict(zip(names, values, strict=True))
            verdict["misconceptions"] = json.loads(verdict["misconceptions"])
            verdict["failure"] = verdict["failure"] and json.loads(verdict["failure"])
            rows.append(ExerciseRow(**verdict))
        row["answers"] = json.loads(row["answers"])
        row["state"] = AttemptState(row["state"])
        for moment in ("handed_in", "graded_at"):
            row[moment] = datetime.fromisoformat(row[moment])
        return Attempt(**row, rows=rows)

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


def counting(attempts: list[Attempt], best: bool) -> dict[tuple[str, str], Attempt]:
    """Choose the attempt that counts, for each student and lesson.

    Parameters
    ----------
    attempts
        All attempts, the oldest first.
    best
        Whether the best one counts; otherwise it is the last one handed in.

    Returns
    -------
    dict
        By student and lesson. Of attempts with the same answers, the last grading counts.
    """
    regraded: dict[tuple[str, str, str], Attempt] = {}
    for attempt in sorted(attempts, key=lambda each: each.graded_at):
        regraded[attempt.student, attempt.lesson, attempt.answers_digest] = attempt
    chosen: dict[tuple[str, str], Attempt] = {}
    for attempt in sorted(regraded.values(), key=lambda each: each.handed_in):
        key = attempt.student, attempt.lesson
        if not best or key not in chosen or attempt.points >= chosen[key].points:
            chosen[key] = attempt
    return chosen
