"""The learner's progress: events in one local file."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pytree_course.judging import words
from pytree_course.judging.expected import Belief

_waiting: dict[Path, list[dict[str, str]]] = {}
"""Events that could not be written yet, by their file: all widgets of a kernel share them."""

_told: set[Path] = set()
"""Files that the learner was told about: once in a notebook is enough."""


@dataclass
class ExerciseProgress:
    """A learner's progress in one exercise."""

    correct: bool = False
    tries: int = 0  # wrong or failing checks before the first correct one
    hints: int = 0
    saw_solution: bool = False


@dataclass(frozen=True, order=True)
class Reviewed:
    """A question of a review that was answered."""

    time: datetime
    about: Belief
    case: str
    right: bool


@dataclass
class Progress:
    """A learner's progress: events in a file of JSON lines.

    An event is one appended line, so that two notebooks at once, or a crash, lose nothing.
    Lines that cannot be read are skipped and counted. Watchers are called after every event.
    Where the file cannot be written, events wait in memory, and the learner is told.
    """

    file: Path | None
    unreadable_lines: int = 0
    exercises: dict[tuple[str, str], ExerciseProgress] = field(default_factory=dict)
    predictions: dict[tuple[str, str], str] = field(default_factory=dict)
    predicted: dict[tuple[str, str], datetime] = field(default_factory=dict)  # when last
    reviews: list[Reviewed] = field(default_factory=list)
    held: dict[Belief, datetime] = field(default_factory=dict)  # misconceptions, and when last
    watchers: list[Callable[[], None]] = field(default_factory=list)
    trouble: OSError | None = None  # why the file could not be read or written

    @classmethod
    def load(cls, file: Path | None) -> "Progress":
        """Read the progress so far, if there is a file; None keeps progress in memory only."""
        progress = cls(file)
        if file is None:
            return progress
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            lines = []
        except OSError as error:
            lines, progress.trouble = [], error
        for line in lines:
            try:
                event = json.loads(line)
                if not all(isinstance(value, str) for value in event.values()):
                    raise ValueError(line)
                progress._count(event)
            except Exception:  # whatever a damaged line holds, it costs nothing but itself
                progress.unreadable_lines += 1
        for event in _waiting.get(file, ()):
            progress._count(event)
        return progress

    def of(self, lesson: str, exercise: str) -> ExerciseProgress:
        """Return the progress in one exercise."""
        return self.exercises.setdefault((lesson, exercise), ExerciseProgress())

    def add(self, lesson: str, exercise: str, event: str, held: Iterable[str] = ()) -> None:
        """Record an event of an exercise: "correct", "tried", "hint" or "solution".

        What was tried may show that misconceptions are held.
        """
        entries = {"lesson": lesson, "exercise": exercise, "event": event, "held": "; ".join(held)}
        self._record({name: value for name, value in entries.items() if value})

    def review(self, about: Belief, case: str, *, right: bool, held: str = "") -> None:
        """Record the answer to a question; a wrong one may show another misconception."""
        # Copies of the course from before there were reviews skip an event that they do not know.
        answer = "right" if right else "wrong"
        entries = {**about._asdict(), "case": case, "answer": answer, "held": held}
        self._record({"event": "reviewed", **entries})

    def predict(self, lesson: str, prediction: str, choice: str) -> None:
        """Record a prediction."""
        self._record({"lesson": lesson, "prediction": prediction, "choice": choice})

    def news(self) -> list[str]:
        """Return a message if progress cannot be kept, once in a notebook."""
        if self.file is None or self.trouble is None or self.file in _told:
            return []
        _told.add(self.file)
        why = self.trouble.strerror or str(self.trouble)
        return [words.PROGRESS_NOT_KEPT.format(file=self.file, why=why)]

    def _record(self, event: dict[str, str]) -> None:
        event = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **event}
        if self.file is not None:
            waiting = _waiting.setdefault(self.file, [])
            waiting.append(event)
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                while waiting:
                    _append(self.file, waiting[0])
                    del waiting[0]
            except OSError as error:
                self.trouble = error
        self._count(event)
        for watcher in self.watchers:
            watcher()

    def _count(self, event: dict[str, str]) -> None:
        if "prediction" in event:
            prediction = event["lesson"], event["prediction"]
            time = _time(event)  # first: it refuses damaged lines
            self.predictions[prediction], self.predicted[prediction] = event["choice"], time
            return
        lesson, name = event["lesson"], event["exercise"]
        for misconception in event.get("held", "").split("; "):
            if misconception:
                self.held[Belief(lesson, name, misconception)] = _time(event)
        if event["event"] == "reviewed":  # it may be about a prediction, and no exercise
            about, is_right = Belief(lesson, name, event["name"]), event["answer"] == "right"
            self.reviews.append(Reviewed(_time(event), about, event["case"], is_right))
            return
        exercise = self.of(lesson, name)
        match event["event"]:
            case "correct":
                exercise.correct = True
            case "tried" if not exercise.correct:
                exercise.tries += 1
            case "hint":
                exercise.hints += 1
            case "solution":
                exercise.saw_solution = True


def _time(event: dict[str, str]) -> datetime:
    """Return when an event was; refuse times with which nothing can be reckoned."""
    time = datetime.fromisoformat(event["time"]).astimezone(UTC)
    if not 2000 <= time.year < 3000:
        raise ValueError(time)
    return time


def _append(file: Path, event: dict[str, str]) -> None:
    """Append an event on a line of its own, even where the last line was cut off."""
    line = json.dumps(event, ensure_ascii=False) + "\n"
    with file.open("a+b") as stream:
        if stream.tell() > 0:
            stream.seek(-1, os.SEEK_END)
            if stream.read() != b"\n":
                line = "\n" + line
        stream.write(line.encode())
