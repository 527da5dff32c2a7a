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
from pytree_course.sources.predictions import read_predictions
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
    parts = [read_predictions(cells, mistakes) for cells in (lesson, *deeper)]
    predictions = {name: each for found, _ in parts for name, each in found.items()}
    lesson, *deeper = [cells for _, cells in parts]
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
