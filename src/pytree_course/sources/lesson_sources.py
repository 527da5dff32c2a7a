"""Read what the author writes: lesson.md, exercises.md and answers.py of one lesson."""

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from pytree_course.sources.core_and_deeper import Layers, read_layers
from pytree_course.sources.marked_cells import marked_cells
from pytree_course.sources.source_cells import (
    AuthorMistakesError,
    Mistake,
    SourceCell,
    read_cells,
)
from pytree_course.sources.source_texts import (
    digest,
    exercises_digest,
    slug,
    split_explanation,
)
from pytree_course.judging.expected import ExerciseFacts, Prediction
from pytree_course.course import LessonFiles

SOLUTION_REGION = re.compile(
    r"^(?P<indent>[ \t]*)# BEGIN SOLUTION\n(?P<solution>.*?)^[ \t]*# END SOLUTION[ \t]*\n?",
    re.MULTILINE | re.DOTALL,
)
PREDICTION = "◇"
"""What a prediction starts with; the code cell after it holds the answer."""
PREDICTION_OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
PLACEHOLDER = "raise NotImplementedError  # your answer goes here, in place of this line"
SETUP_ID = "setup"
EXERCISE_OPTIONS = {"points": int, "minutes": int, "stars": int, "section": str, "hints": list}


@dataclass(frozen=True)
class Answer:
    """Code that stands in an answer cell: a solution, a variant, a misconception or a starter.

    Or a mutant that no input tells from a right answer: it is only named.
    """

    name: str
    source: str
    cell: SourceCell
    explanation: str = ""
    section: str = ""


@dataclass(frozen=True)
class Exercise(ExerciseFacts):
    """One exercise as the author wrote it."""

    cell: SourceCell  # the answer cell
    given_starters: list[Answer] = field(default_factory=list)
    variants: list[Answer] = field(default_factory=list)
    misconceptions: list[Answer] = field(default_factory=list)
    equivalents: list[Answer] = field(default_factory=list)

    @property
    def right_answers(self) -> list[Answer]:
        """The solution and its variants."""
        return [self.solution, *self.variants]

    @property
    def is_prediction(self) -> bool:
        """Whether it asks for values, one for each line: its cases are the same for everyone."""
        return not re.search(rf"^(def|class) {self.answers[0]}\b", self.cell.source, re.MULTILINE)

    @property
    def solution(self) -> Answer:
        """The right answer, without the marks of its region."""
        source = SOLUTION_REGION.sub(r"\g<solution>", self.cell.source)
        return Answer("solution", source.rstrip("\n"), self.cell)

    @property
    def starter(self) -> Answer:
        """What the learner finds in the answer cell."""
        if self.given_starters:
            return self.given_starters[-1]
        source = SOLUTION_REGION.sub(rf"\g<indent>{PLACEHOLDER}\n", self.cell.source)
        return Answer("starter", source.rstrip("\n"), self.cell)

    def mistake(self, message: str, at: Answer | None = None) -> Mistake:
        """Return a mistake that the author made in this exercise, or in an answer to it."""
        return (at or self).cell.mistake(f"{self.name}: {message}")


@dataclass(frozen=True)
class LessonSources:
    """All that the author wrote for one lesson."""

    files: LessonFiles
    lesson: list[SourceCell]
    predictions: dict[str, Prediction]
    exercise_cells: list[SourceCell]
    exercises: dict[str, Exercise]

    @property
    def title(self) -> str:
        """The lesson's title."""
        return next((cell.heading for cell in self.lesson if cell.heading), self.files.stem)

    @cached_property
    def layers(self) -> Layers:
        """The lesson's core, and its deeper sections."""
        return read_layers(self.lesson)

    @cached_property
    def sections(self) -> dict[str, str]:
        """The lesson's sections: slug to title."""
        return {slug(cell.heading): cell.heading for cell in self.lesson if cell.heading}

    @property
    def setup(self) -> str:
        """The code of the exercises' set-up cell."""
        return next(cell.source for cell in self.exercise_cells if cell.id == SETUP_ID)

    @property
    def lesson_digest(self) -> str:
        """A digest of what the lesson's notebook is made from."""
        return digest(self.files.sources / "lesson.md")

    @property
    def exercises_digest(self) -> str:
        """A digest of what the exercises, the solutions and checks/expected are made from."""
        return exercises_digest(self.files)


def read_sources(files: LessonFiles) -> LessonSources:
    """Read the sources of a lesson; raise AuthorMistakesError where they cannot be read as one."""
    mistakes: list[Mistake] = []
    lesson = read_cells(files.sources / "lesson.md", mistakes)
    predictions = _read_predictions(lesson, mistakes)
    exercise_cells: list[SourceCell] = []
    exercises: dict[str, Exercise] = {}
    if files.has_exercises:
        exercise_cells = read_cells(files.sources / "exercises.md", mistakes)
        exercises = _read_exercises(exercise_cells, mistakes)
        _read_answers(files.sources / "answers.py", exercises, mistakes)
        if not any(cell.id == SETUP_ID for cell in exercise_cells):
            message = f"no code cell has `:id: {SETUP_ID}`: add the set-up cell"
            mistakes.append(Mistake(files.sources / "exercises.md", 1, message))
    if mistakes:
        raise AuthorMistakesError(mistakes)
    return LessonSources(files, lesson, predictions, exercise_cells, exercises)


def _read_predictions(cells: list[SourceCell], mistakes: list[Mistake]) -> dict[str, Prediction]:
    """Pair each question with the cell below it, which holds the answer."""
    predictions = {}
    for above, cell in pairwise(cells):
        asked = above.source.startswith(PREDICTION)
        answer = cell.metadata.get("prediction")
        if cell.kind != "code" or (not asked and answer is None):
            continue
        options = dict(PREDICTION_OPTION.findall(above.source))
        if not asked:
            why = f"it answers a prediction, but the cell above does not start with {PREDICTION}"
            mistakes.append(cell.mistake(why))
        elif answer is None or (options and answer not in options):
            why = "the prediction needs its answer: `:prediction: B`, or the text to be written"
            mistakes.append(cell.mistake(why))
        else:
            question = PREDICTION_OPTION.sub("", above.source).removeprefix(PREDICTION)
            question = " ".join(question.replace("**Predict.**", "").split())
            predictions[cell.id] = Prediction(question, options, str(answer), cell.source)
    return predictions


def _read_exercises(cells: list[SourceCell], mistakes: list[Mistake]) -> dict[str, Exercise]:
    exercises: dict[str, Exercise] = {}
    title = ""
    for cell in cells:
        title = cell.heading or title
        if "exercise" not in cell.metadata:
            continue
        said = cell.metadata
        name = str(said["exercise"])
        wrong = [
            f"`{option}` should be a {kind.__name__}"
            for option, kind in EXERCISE_OPTIONS.items()
            if not isinstance(said.get(option), kind)
        ]
        if not name.isidentifier():
            wrong.append(f"the name {name!r} is not a Python name")
        if name in exercises:
            wrong.append(f"there are two exercises {name!r}")
        if wrong:
            mistakes += [cell.mistake(f"{name}: {why}") for why in wrong]
            continue
        options = {option: said[option] for option in EXERCISE_OPTIONS}
        options["hints"] = [str(hint).strip() for hint in said["hints"]]
        options["answers"] = [str(answer) for answer in said.get("answers", [name])]
        options |= {mark: bool(said.get(mark, False)) for mark in ("silent_bug", "core")}
        options["question"] = str(said.get("question", "")).strip()
        exercises[name] = Exercise(name=name, cell=cell, title=title, **options)
    return exercises


def _read_answers(file: Path, exercises: dict[str, Exercise], mistakes: list[Mistake]) -> None:
    if not file.exists():
        mistakes.append(Mistake(file, 1, "this file is missing"))
        return
    for line, said, source in marked_cells(file.read_text(encoding="utf-8")):
        cell = SourceCell("code", source, said, file, line)
        name = said.get("exercise")
        if name is None:
            why = 'begin the cell with # %% exercise="...", with quotes'
            mistakes.append(cell.mistake(why))
        elif name not in exercises:
            mistakes.append(cell.mistake(f"there is no exercise {name!r} in exercises.md"))
        else:
            try:
                ast.parse(source)
            except SyntaxError as error:
                at = line + (error.lineno or 0)
                mistakes.append(Mistake(file, at, f"{name}: SyntaxError: {error.msg}"))
            else:
                _add_answer(exercises[name], cell, mistakes)


def _add_answer(exercise: Exercise, cell: SourceCell, mistakes: list[Mistake]) -> None:
    said = cell.metadata
    if "starter" in said:
        exercise.given_starters.append(Answer("starter", cell.source, cell))
    elif "variant" in said:
        exercise.variants.append(Answer(said["variant"], cell.source, cell))
    elif "misconception" in said:
        name, section = said["misconception"], said.get("section", exercise.section)
        explanation, source = split_explanation(cell.source)
        if not explanation:
            why = f"the misconception {name!r} needs an explanation: a text in triple quotes"
            mistakes.append(cell.mistake(why))
        exercise.misconceptions.append(Answer(name, source, cell, explanation, section))
    elif "equivalent" in said:
        # Comments, each the name of a mutant as `course.py cases` prints it.
        names = [line.removeprefix("#").strip() for line in cell.source.splitlines()]
        exercise.equivalents.extend(Answer(name, "", cell) for name in names if name)
    else:
        why = (
            'say variant="...", misconception="...", equivalent="..." or starter=True '
            "after the exercise"
        )
        mistakes.append(cell.mistake(why))
