"""Read what the author writes: lesson.md, exercises.md and answers.py of one lesson."""

import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytree_course.sources.core_and_deeper import Layers, read_layers
from pytree_course.sources.exercises import Exercise, read_answers, read_exercises, read_practice
from pytree_course.sources.source_cells import (
    AuthorMistakesError,
    Mistake,
    SourceCell,
    read_cells,
)
from pytree_course.sources.standalone import standing_alone
from pytree_course.sources.source_texts import (
    split_answer,
    exercises_digest,
    slug,
    text_digest,
    split_explanation,
)
from pytree_course.judging.expected import ExerciseFacts, Prediction
from pytree_course.course import LessonFiles

PREDICTION = "◇"
"""What a prediction starts with; the code cell after it holds the answer."""
PREDICTION_OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
@dataclass(frozen=True)
class LessonSources:
    """All that the author wrote for one lesson."""

    files: LessonFiles
    lesson: list[SourceCell]
    deeper: list[list[SourceCell]]  # the cells of each deeper section
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
        return read_layers(self.lesson, self.deeper)

    @property
    def all_cells(self) -> list[SourceCell]:
        """The cells of the lesson and of all deeper sections."""
        return [*self.lesson, *(cell for section in self.deeper for cell in section)]

    @cached_property
    def sections(self) -> dict[str, str]:
        """The lesson's sections: slug to title."""
        return {slug(cell.heading): cell.heading for cell in self.all_cells if cell.heading}

    @property
    def graded(self) -> dict[str, Exercise]:
        """The exercises of the exercise notebook; the others stand in the lesson."""
        return {name: each for name, each in self.exercises.items() if not each.is_practice}

    @property
    def exercises_digest(self) -> str:
        """A digest of what the exercises, the solutions and checks/expected are made from."""
        return exercises_digest(self.files)

    @property
    def practice_digest(self) -> str:
        """A digest of the cells of the exercises that stand in the lesson; "" without any."""
        practice = [each for each in self.exercises.values() if each.is_practice]
        cells = [(each.setup, each.cell.source, str(each.cell.metadata)) for each in practice]
        return text_digest(*itertools.chain(*cells)) if cells else ""


def read_sources(files: LessonFiles) -> LessonSources:
    """Read the sources of a lesson; raise AuthorMistakesError where they cannot be read as one."""
    mistakes: list[Mistake] = []
    lesson = read_cells(files.sources / "lesson.md", mistakes)
    deeper = [read_cells(file, mistakes) for file in files.deeper_files()]
    predictions = _read_predictions(lesson, mistakes)
    for cells in deeper:
        predictions |= _read_predictions(cells, mistakes)
    exercise_cells: list[SourceCell] = []
    exercises: dict[str, Exercise] = {}
    if files.has_exercises:
        exercise_cells = read_cells(files.sources / "exercises.md", mistakes)
        read_practice(lesson, exercises, mistakes, core=True)
        for cells in deeper:
            read_practice(cells, exercises, mistakes, core=False)
        read_exercises(exercise_cells, exercises, mistakes)
        read_answers(files.sources / "answers.py", exercises, mistakes)
    if mistakes:
        raise AuthorMistakesError(mistakes)
    return LessonSources(files, lesson, deeper, predictions, exercise_cells, exercises)


def _read_predictions(cells: list[SourceCell], mistakes: list[Mistake]) -> dict[str, Prediction]:
    """Pair each question with the cell below it, which holds the answer."""
    predictions = {}
    for place, (above, cell) in enumerate(pairwise(cells), 1):
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
            code = [each.source for each in cells[:place] if each.kind == "code"]
            alone = standing_alone(cell.source, question, code)
            below = cells[place + 1] if place + 1 < len(cells) else None
            why = ""
            if below and below.kind == "markdown" and not below.heading:
                why, _ = split_answer(below.source)
            predictions[cell.id] = Prediction(
                question, options, str(answer), cell.source, alone, why
            )
    return predictions


