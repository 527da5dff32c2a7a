"""The learner's progress: events in one local file."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pytree_course.judging import words
from pytree_course.judging.expected import Belief
from pytree_course.observing.reading import read_json

_SEPARATOR = "; "  # between the names of misconceptions in one entry

# Each widget of a notebook has its own `Progress`, but they share the file and its trouble.
_waiting_events: dict[Path, list[dict[str, str]]] = {}  # not written yet, by file
_reported_files: set[Path] = set()  # of which the learner was warned, once in a notebook


@dataclass
class ExerciseProgress:
    """A learner's progress in one exercise."""

    correct: bool = False
    tries: int = 0  # wrong or failing checks before the first correct one
    hints: int = 0
    saw_solution: bool = False

    def count(self, event: str) -> None:
        """Count an event: "correct", "tried", "hint" or "solution"."""
        match event:
            case "correct":
                self.correct = True
            case "tried" if not self.correct:
                self.tries += 1
            case "hint":
                self.hints += 1
            case "solution":
                self.saw_solution = True


class ReviewAnswer(NamedTuple):
    """The answer to a question of a review."""

    time: datetime
    about: Belief
    case: str
    is_right: bool


class PredictionMade(NamedTuple):
    """The latest choice in a prediction."""

    time: datetime
    choice: str


@dataclass
class Progress:
    """A learner's progress: events in a file of JSON lines.

    An event is one appended line, so that two notebooks at once, or a crash, lose nothing.
    Damaged lines are skipped and counted. Watchers are called after every event.
    If the file cannot be written, events wait in memory, and the learner is warned.
    """

    file: Path | None
    unreadable_lines: int = 0
    exercises: dict[tuple[str, str], ExerciseProgress] = field(default_factory=dict)
    predictions: dict[tuple[str, str], PredictionMade] = field(default_factory=dict)
    reviews: list[ReviewAnswer] = field(default_factory=list)
    misconceptions_held: dict[Belief, datetime] = field(default_factory=dict)  # time of the latest
    watchers: list[Callable[[], None]] = field(default_factory=list)
    file_error: OSError | None = None  # why the file could not be read or written

    @classmethod
    def load(cls, file: Path | None) -> "Progress":
        """Read the progress so far, if there is a file; None keeps progress in memory only."""
        progress = cls(file)
        if file is None:
            return progress
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:
            lines = []
        except OSError as error:
            lines, progress.file_error = [], error
        for line in lines:
            try:
                progress._count(read_json(dict[str, str], line))
            except (KeyError, OverflowError, ValueError):
                progress.unreadable_lines += 1
        for event in _waiting_events.get(file, ()):
            progress._count(event)
        return progress

    def in_exercise(self, lesson: str, exercise: str) -> ExerciseProgress:
        """Return the progress in one exercise, which may not be begun."""
        return self.exercises.get((lesson, exercise), ExerciseProgress())

    def add(self, lesson: str, exercise: str, event: str, held: Iterable[str] = ()) -> None:
        """Record an event of an exercise; a wrong answer may show misconceptions."""
        entries = {"lesson": lesson, "exercise": exercise, "event": event}
        if names := _SEPARATOR.join(held):
            entries["held"] = names
        self._record(entries)

    def review(self, about: Belief, case: str, *, is_right: bool, held: Iterable[str]) -> None:
        """Record the answer to a question; a wrong one may show another misconception."""
        # Older versions of the course skip events that they do not know.
        answer = "right" if is_right else "wrong"
        entries = {**about._asdict(), "case": case, "answer": answer}
        self._record({"event": "reviewed", **entries, "held": _SEPARATOR.join(held)})

    def predict(self, lesson: str, prediction: str, choice: str) -> None:
        """Record a prediction."""
        self._record({"lesson": lesson, "prediction": prediction, "choice": choice})

    def take_warnings(self) -> list[str]:
        """Return a warning if progress cannot be kept, but only once in a notebook."""
        if self.file is None or self.file_error is None or self.file in _reported_files:
            return []
        _reported_files.add(self.file)
        why = self.file_error.strerror or str(self.file_error)
        return [words.PROGRESS_NOT_KEPT.format(file=self.file, why=why)]

    def _record(self, entries: dict[str, str]) -> None:
        event = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **entries}
        if self.file is not None:
            waiting = _waiting_events.setdefault(self.file, [])
            waiting.append(event)
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                while waiting:
                    _append(self.file, waiting[0])
                    del waiting[0]
            except OSError as error:
                self.file_error = error
        self._count(event)
        for watcher in self.watchers:
            watcher()

    def _count(self, event: dict[str, str]) -> None:
        """Count an event; raise if an entry is missing or damaged, before anything is changed."""
        time = _parse_time(event["time"])
        lesson = event["lesson"]
        if "prediction" in event:
            prediction = lesson, event["prediction"]
            self.predictions[prediction] = PredictionMade(time, event["choice"])
            return
        name = event["exercise"]
        if event["event"] == "reviewed":  # `name` may be a prediction's
            about = Belief(lesson, name, event["name"])
            is_right = event["answer"] == "right"
            self.reviews.append(ReviewAnswer(time, about, event["case"], is_right))
        else:
            work = self.exercises.setdefault((lesson, name), ExerciseProgress())
            work.count(event["event"])
        for misconception in event.get("held", "").split(_SEPARATOR):
            if misconception:
                self.misconceptions_held[Belief(lesson, name, misconception)] = time


def _parse_time(text: str) -> datetime:
    """Parse a time; raise for years in which calculating with it could overflow."""
    time = datetime.fromisoformat(text).astimezone(UTC)
    if not 2000 <= time.year < 3000:
        raise ValueError(time)
    return time


def _append(file: Path, event: dict[str, str]) -> None:
    """Append an event on a line of its own, even if the last line was cut off."""
    line = json.dumps(event, ensure_ascii=False) + "\n"
    with file.open("a+b") as stream:
        if stream.tell() > 0:
            stream.seek(-1, os.SEEK_END)
            if stream.read() != b"\n":
                line = "\n" + line
        stream.write(line.encode())
