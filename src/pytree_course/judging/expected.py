"""A lesson's build results: observations of the reference answer and each misconception."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import to_builtins

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
    inputs: tuple[Observation, ...] = ()
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
    alone: str | None = ""
    """That code with the definitions it needs; None if it cannot be asked outside the lesson."""
    why: str = ""  # what the lesson says of the answer


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
    sources: str  # digest of what the exercise notebook's exercises are made from
    practice: str = ""  # and of the cells of the exercises that stand in the lesson

    @property
    def points(self) -> int:
        """Points to be had."""
        return sum(exercise.points for exercise in self.exercises.values())

    @property
    def graded(self) -> dict[str, ExpectedExercise]:
        """The exercises of the exercise notebook; the others stand in the lesson."""
        return {name: each for name, each in self.exercises.items() if not each.is_practice}

    @property
    def deeper(self) -> dict[str, LessonSection]:
        """The deeper sections, each a notebook of its own, by slug."""
        return {slug: each for slug, each in self.sections.items() if each.deeper}

    def observations_apart(self) -> tuple[dict[str, Any], list[Observation]]:
        """Return everything but the observations, and these."""
        data = to_builtins(self)
        observations: list[Observation] = []
        for name, exercise in self.exercises.items():
            observations += exercise.observations
            del data["exercises"][name]["observations"]
            described = data["exercises"][name]["misconceptions"]
            for misconception, fields in zip(exercise.misconceptions, described, strict=True):
                observations += misconception.observations.values()
                fields["observations"] = list(misconception.observations)
        return data, observations

    def to_text(self) -> str:
        """Return the JSON text that `read` reads: a line for each observation or fact of a case.

        A wrong observation of several misconceptions is written once, in the exercise's `wrong`;
        theirs are indices into it.
        """
        data = to_builtins(self)
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
                case: placeholder(given) for case, given in exercise["given"].items()
            }
        text = json.dumps(data, indent=1, ensure_ascii=False)
        return re.sub(r'"<line (\d+)>"', lambda match: lines[int(match[1])], text) + "\n"

    @classmethod
    def read(cls, file: Path) -> "Expected":
        """Read a file that `to_text` made; raise a CourseError if it is missing."""
        if not file.exists():
            raise CourseError(
                f"{file} is missing. Fetch the course's files again, or, if you are its author, "
                "run: python3 course.py build"
            )
        stored = msgspec.json.decode(file.read_bytes(), type=_StoredExpected)
        exercises = {name: _exercise(each) for name, each in stored.exercises.items()}
        return cls(**vars(stored) | {"exercises": exercises})


@dataclass(frozen=True)
class _StoredMisconception(Misconception):
    observations: dict[int, int]  # type: ignore[assignment]  # indices into `wrong`, by case


@dataclass(frozen=True, kw_only=True)
class _StoredExercise(ExpectedExercise):
    misconceptions: list[_StoredMisconception]  # type: ignore[assignment]
    wrong: list[Observation]


@dataclass(frozen=True)
class _StoredExpected(Expected):
    exercises: dict[str, _StoredExercise]  # type: ignore[assignment]


def _exercise(stored: _StoredExercise) -> ExpectedExercise:
    facts = dict(vars(stored))
    wrong = facts.pop("wrong")
    misconceptions = [
        Misconception(
            each.name,
            each.explanation,
            each.section,
            {case: wrong[index] for case, index in each.observations.items()},
        )
        for each in stored.misconceptions
    ]
    return ExpectedExercise(**facts | {"misconceptions": misconceptions})
