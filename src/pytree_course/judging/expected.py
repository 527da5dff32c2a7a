"""What the build writes about a lesson: its sections, predictions, exercises, expected results."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pytree_course.course import CourseError, LessonFiles
from pytree_course.observing.observations import Observation
from pytree_course.texts import text_digest, write_file


@dataclass(frozen=True)
class Misconception:
    """A wrong answer with an explanation.

    Its observations are the results that differ from the right answer's, by the number of the case.
    """

    name: str
    explanation: str
    section: str  # slug of the lesson section to reread
    observations: dict[int, Observation]
    met: list[str] = field(default_factory=list)  # public reports of people who held it


class Belief(NamedTuple):
    """The key of a misconception, or of a prediction in a lesson."""

    lesson: str
    exercise: str  # or the id of the cell with the prediction's answer
    name: str = ""  # of the misconception; empty for a prediction

    @property
    def is_prediction(self) -> bool:
        """Whether this is the key of a prediction."""
        return not self.name


@dataclass(frozen=True)
class ExerciseFacts:
    """The author's description of an exercise."""

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
    question: str  # the question that review asks about a case; "" if it asks none

    def facts(self) -> dict[str, Any]:
        """Return the description by its fields' names, without the fields of a subclass."""
        return {fact.name: getattr(self, fact.name) for fact in fields(ExerciseFacts)}

    @property
    def is_practice(self) -> bool:
        """Whether it is an exercise of the lesson itself, which earns no points."""
        return self.points == 0

    @property
    def call(self) -> str:
        """The call of the exercise's check."""
        return f"check.{self.name}({', '.join(self.answers)})"


@dataclass(frozen=True)
class Given:
    """The code and the inputs that a question shows."""

    code: str
    inputs: tuple[Observation, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ExpectedExercise(ExerciseFacts):
    """The expected results of an exercise, and its misconceptions."""

    functions: bool  # whether the answers are functions or classes, and not values
    observations: list[Observation]  # the right answer's, case by case
    misconceptions: list[Misconception]
    summaries: list[dict[str, str] | None] = field(default_factory=list)
    """For each case, what wrong entries of a result mean that the check composed; None if the
    result is the answer's own."""
    lines: dict[str, str] = field(default_factory=dict)  # by name, if lines are predicted
    given: dict[int, Given] = field(default_factory=dict)  # of the cases that questions ask about

    @property
    def explanations(self) -> dict[str, str]:
        """The explanations of its misconceptions, by name."""
        return {wrong.name: wrong.explanation for wrong in self.misconceptions}


def _text_of_results(exercise: ExpectedExercise) -> str:
    """Return the text of an exercise's file, with one observation per line.

    A wrong observation of several misconceptions is written once, in `wrong`; the misconceptions
    have indices into it.
    """
    wrong: dict[str, int] = {}  # the index of each observation, by its text
    misconceptions = []
    for misconception in exercise.misconceptions:
        indices = {
            case: wrong.setdefault(_json(observation), len(wrong))
            for case, observation in misconception.observations.items()
        }
        misconceptions.append({**vars(misconception), "observations": indices})
    entries = {
        "functions": _json(exercise.functions),
        "lines": _json(exercise.lines),
        "observations": _lines(map(_json, exercise.observations)),
        "misconceptions": _lines(map(_json, misconceptions)),
        "wrong": _lines(wrong),
        "summaries": _lines(map(_json, exercise.summaries)),
        "given": _json(exercise.given),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in entries.items()) + "\n}\n"


def _digest_of_reasons(exercise: ExpectedExercise) -> str:
    bare = [
        replace(misconception, explanation="", met=[]) for misconception in exercise.misconceptions
    ]
    return text_digest(_text_of_results(replace(exercise, misconceptions=bare)))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _lines(items: Iterable[str]) -> str:
    return "[\n" + ",\n".join(items) + "\n]"


def _read_results(file: Path, exercise: ExerciseFacts) -> ExpectedExercise:
    results = msgspec.json.decode(_read(file))
    wrong = results.pop("wrong")
    for misconception in results["misconceptions"]:
        indices = misconception["observations"]
        misconception["observations"] = {case: wrong[index] for case, index in indices.items()}
    data = {**exercise.facts(), **results}  # they have no entry in common
    return msgspec.convert(data, ExpectedExercise, str_keys=True)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise CourseError(
            f"{file} is missing. Fetch the course's files again, or, if you are its author, "
            "run: python3 course.py build"
        ) from None


LETTERS = re.compile(r"\*\*[A-Z]\.\*\*|\([A-Z](?:, [A-Z])*\)")
"""Letters of options in Markdown: `**B.**`, `(A)`, `(A, C)`."""


def with_letters(text: str, new_letters: Mapping[str, str]) -> str:
    """Replace the letters of options in Markdown."""

    def with_new_letters(match: re.Match[str]) -> str:
        letters = [new_letters.get(letter, letter) for letter in re.findall("[A-Z]", match[0])]
        if match[0].startswith("**"):
            return f"**{letters[0]}.**"
        return f"({', '.join(sorted(letters))})"

    return LETTERS.sub(with_new_letters, text)


@dataclass(frozen=True)
class Prediction:
    """A question before a surprise."""

    question: str
    options: dict[str, str]  # by letter; empty if the learner writes the answer
    answer: str  # the right letter, or the right text
    alone: str | None = ""
    """The code that shows the answer, with the definitions it needs; None if it cannot be asked
    outside the lesson."""
    why: str = ""  # the lesson's explanation of the answer

    def reordered(self, letters: Sequence[str]) -> "Prediction":
        """Return the prediction with its options in another order, given by their letters now."""
        new_letters = dict(zip(letters, sorted(letters), strict=True))
        return replace(
            self,
            options={new: self.options[old] for old, new in new_letters.items()},
            answer=new_letters.get(self.answer, self.answer),
            why=with_letters(self.why, new_letters),
        )


@dataclass(frozen=True)
class LessonSection:
    """A section of a lesson, with the facts that a learner's progress depends on."""

    title: str
    minutes: int  # to read and run it
    trying: int  # minutes for its predictions and Trys
    deeper: bool  # whether it comes after the core
    predictions: list[str]  # the ids of their answers' cells, in order

    @property
    def all_minutes(self) -> int:
        """The minutes for reading, predictions and Trys, without practice."""
        return self.minutes + self.trying

    def link_target(self, files: LessonFiles, slug: str) -> tuple[Path, str]:
        """Return the notebook and the heading in it to link to; "" if it is the whole notebook."""
        return (files.deeper(slug), "") if self.deeper else (files.notebook, self.title)


@dataclass(frozen=True)
class BuiltLesson:
    """A built lesson, for learners and grading; expected results are read on demand.

    Examples
    --------
    >>> lesson = BuiltLesson.read(files.expected)  # doctest: +SKIP
    >>> lesson.exercises["count_leaves"].points  # doctest: +SKIP
    3
    >>> lesson.expected("count_leaves").observations[0]  # doctest: +SKIP
    Number(type='int', value=0)
    """

    lesson: str
    title: str
    sections: dict[str, LessonSection]  # by slug, in the lesson's order
    predictions: dict[str, Prediction]  # by the id of the cell that holds the answer
    exercises: dict[str, ExerciseFacts]
    sources: str  # a digest of the sources of the exercise notebook
    practice: str = ""  # a digest of the cells of the exercises in the lesson
    results: str = ""  # a digest of the exercises' files, once they are written
    deciding: dict[str, str] = field(default_factory=dict)
    """By exercise, a digest of what decides its verdicts: set-up, starter, solution, check."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By exercise, once they are written, a digest of the results that give a wrong answer its
    reason: the right answer's and the misconceptions', without their explanations."""
    folder: str = field(default="", compare=False)  # of the exercises' files, once there are some

    @property
    def points(self) -> int:
        """The points that can be earned."""
        return sum(exercise.points for exercise in self.exercises.values())

    @property
    def graded(self) -> dict[str, ExerciseFacts]:
        """The exercises of the exercise notebook; the others are in the lesson."""
        exercises = self.exercises.items()
        return {name: exercise for name, exercise in exercises if not exercise.is_practice}

    @property
    def deeper(self) -> dict[str, LessonSection]:
        """The deeper sections, each a notebook of its own, by slug."""
        return {slug: section for slug, section in self.sections.items() if section.deeper}

    def expected(self, name: str) -> ExpectedExercise:
        """Return the expected results of an exercise; its file is read on the first call."""
        exercise = self.exercises[name]
        if not isinstance(exercise, ExpectedExercise):
            exercise = _read_results(Path(self.folder) / f"{name}.json", exercise)
            self.exercises[name] = exercise
        return exercise

    def digest_of_results_on_disk(self) -> str:
        """Return the digest of the exercises' files as they are now; "" if one is missing."""
        files = [Path(self.folder) / f"{name}.json" for name in self.exercises]
        if not all(file.exists() for file in files):
            return ""
        return text_digest(*(file.read_text(encoding="utf-8") for file in files))

    def to_text(self) -> str:
        """Return the text of the lesson's file, without expected results."""
        data = msgspec.to_builtins(replace(self, exercises={}))
        data["exercises"] = {name: exercise.facts() for name, exercise in self.exercises.items()}
        del data["folder"]
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"

    def write(self, file: Path) -> bool:
        """Write the lesson's file, and one for each exercise; return whether any has changed."""
        folder = file.with_suffix("")
        texts = {
            folder / f"{name}.json": _text_of_results(self.expected(name))
            for name in self.exercises
        }
        results = text_digest(*texts.values())
        reasons = {name: _digest_of_reasons(self.expected(name)) for name in self.exercises}
        texts[file] = replace(self, results=results, reasons=reasons).to_text()
        changed = [
            path
            for path, text in texts.items()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        for path in changed:
            write_file(path, texts[path])
        for earlier in {*folder.glob("*.json")} - texts.keys():
            earlier.unlink()
        return bool(changed)

    @classmethod
    def read(cls, file: Path) -> "BuiltLesson":
        """Read a lesson's file; raise a CourseError if it is missing."""
        lesson = msgspec.json.decode(_read(file), type=cls)
        return replace(lesson, folder=str(file.with_suffix("")))
