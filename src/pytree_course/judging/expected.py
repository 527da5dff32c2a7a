"""What a check expects: the right answer's observations, and those of every misconception."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pytree_course.course import CourseError
from pytree_course.observing.observations import Observation


@dataclass(frozen=True)
class Misconception:
    """A wrong answer with an explanation.

    Its observations are those that differ from the right answer's, by the number of the case.
    """

    name: str
    explanation: str
    section: str  # slug of the lesson section to reread
    observations: dict[int, Observation]


class Belief(NamedTuple):
    """What a question is about: a misconception, or a prediction of a lesson as a whole."""

    lesson: str
    exercise: str  # or the id of the cell with the prediction's answer
    name: str = ""  # of the misconception


@dataclass(frozen=True)
class ExerciseFacts:
    """What the author says of an exercise."""

    name: str
    title: str
    answers: list[str]
    points: int
    minutes: int
    stars: int
    section: str  # slug of the lesson section to reread
    hints: list[str]
    silent_bug: bool  # whether it is about a bug that raises no error
    core: bool  # whether it belongs to the lesson's core, the short way through the course
    question: str  # what is asked of a case in review; empty where there is nothing to ask

    @property
    def is_practice(self) -> bool:
        """Whether it stands in the lesson, where it earns no points."""
        return self.points == 0

    @property
    def call(self) -> str:
        """The call of the exercise's check."""
        return f"check.{self.name}({', '.join(self.answers)})"


@dataclass(frozen=True)
class Given:
    """What a question is asked about, such as the inputs of a case."""

    code: str
    inputs: list[Observation] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class ExpectedExercise(ExerciseFacts):
    """What is expected of one exercise, and what to say about it."""

    functions: bool  # whether the answers are functions or classes, and not values
    observations: list[Observation]  # the right answer's, case by case
    misconceptions: list[Misconception]
    features: list[list[str]] = field(default_factory=list)  # what each case has, in words
    summaries: list[dict[str, str] | None] = field(default_factory=list)
    """Of each case what wrong entries of the check's own summary mean; None where there is none."""
    lines: dict[str, str] = field(default_factory=dict)  # by name, where lines are predicted
    given: dict[int, Given] = field(default_factory=dict)  # by the cases that make a question


@dataclass(frozen=True)
class Prediction:
    """A question before a surprise."""

    question: str
    options: dict[str, str]  # by letter; empty where the learner writes the answer
    answer: str  # the right letter, or the right text
    code: str = ""  # what shows the answer


@dataclass(frozen=True)
class LessonSection:
    """A section of a lesson, and what the learner's progress needs to know of it."""

    title: str
    minutes: int  # to read and run it
    trying: int  # minutes that its predictions and Trys take besides
    deeper: bool  # whether it comes after the core
    predictions: list[str]  # the ids of their answers' cells, in order


@dataclass(frozen=True)
class Expected:
    """What is expected in one lesson, on the cases of one seed."""

    lesson: str
    title: str
    sections: dict[str, LessonSection]  # by slug, in the lesson's order
    predictions: dict[str, Prediction]  # by the id of the cell that holds the answer
    exercises: dict[str, ExpectedExercise]
    sources: str  # digest of what this was built from

    @property
    def points(self) -> int:
        """Points to be had."""
        return sum(exercise.points for exercise in self.exercises.values())

    @property
    def graded(self) -> dict[str, ExpectedExercise]:
        """The exercises of the exercise notebook; the others stand in the lesson."""
        return {name: each for name, each in self.exercises.items() if not each.is_practice}

    def observations_apart(self) -> tuple[dict[str, Any], list[Observation]]:
        """Return everything but the observations, and these."""
        data = asdict(self)
        observations: list[Observation] = []
        for exercise in data["exercises"].values():
            observations += exercise.pop("observations")
            for misconception in exercise["misconceptions"]:
                by_case = misconception.pop("observations")
                misconception["cases"] = list(by_case)
                observations += by_case.values()
        return data, observations

    def to_text(self) -> str:
        """Return the JSON text that `read` reads: a line for an observation or a fact of a case.

        What several misconceptions yield is written once, in the exercise's `wrong`; theirs are
        places in it.
        """
        data = asdict(self)
        lines: list[str] = []

        def placeholder(fact: Any) -> str:
            lines.append(json.dumps(fact, ensure_ascii=False, allow_nan=False))
            return f"<line {len(lines) - 1}>"

        for exercise in data["exercises"].values():
            wrong: dict[str, int] = {}
            for misconception in exercise["misconceptions"]:
                by_case = misconception["observations"]
                for case, observation in by_case.items():
                    written = json.dumps(observation, ensure_ascii=False, allow_nan=False)
                    by_case[case] = wrong.setdefault(written, len(wrong))
                misconception["observations"] = placeholder(by_case)
            exercise["wrong"] = list(map(placeholder, map(json.loads, wrong)))
            for of_cases in ("observations", "features", "summaries"):
                exercise[of_cases] = list(map(placeholder, exercise[of_cases]))
            exercise["given"] = {
                case: placeholder(each) for case, each in exercise["given"].items()
            }
        text = json.dumps(data, indent=1, ensure_ascii=False)
        return re.sub(r'"<line (\d+)>"', lambda found: lines[int(found[1])], text) + "\n"

    @classmethod
    def read(cls, file: Path) -> "Expected":
        """Read what `to_text` wrote; raise a CourseError where the file is missing."""
        if not file.exists():
            raise CourseError(
                f"{file} is missing. Fetch the course's files again, or, if you are its author, "
                "run: python3 course.py build"
            )
        data = json.loads(file.read_text(encoding="utf-8"))
        for exercise in data["exercises"].values():
            wrong = exercise.pop("wrong")
            exercise["given"] = {int(at): Given(**each) for at, each in exercise["given"].items()}
            for misconception in exercise["misconceptions"]:
                by_case = misconception["observations"].items()
                misconception["observations"] = {int(case): wrong[at] for case, at in by_case}
            exercise["misconceptions"] = [
                Misconception(**each) for each in exercise["misconceptions"]
            ]
        kinds = {
            "sections": LessonSection,
            "predictions": Prediction,
            "exercises": ExpectedExercise,
        }
        made = {
            entry: {name: kind(**each) for name, each in data[entry].items()}
            for entry, kind in kinds.items()
        }
        return cls(**data | made)
