"""Make a class that handed in, always the same: see `--help`.

python .ci/benchmarks/made_class.py FOLDER 40 01_leaves 02_tree_map

Its notebooks are right, wrong by misconception, blank, half done and broken; with `--whole`, each
exercise has a right answer or one that is wrong by a misconception, and none is broken.
"""

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pytree_course.course import Course, LessonFiles, answer_id
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import read_sources

RIGHT_SHARE = 0.6
"""Of the answers of a whole class."""
BROKEN_ANSWERS = (
    "while True: pass",
    "import os; os._exit(1)",
    "raise ValueError('my own')",
    "def broken(:",
    "print('x' * 300_000_000)",
)
BROKEN_FILES = (b"", b'{"cells": 3}', b"\xff\xfe not a notebook", b'{"worksheets": []}')

Marks = dict[tuple[str, str], bool]
"""By student and exercise: whether the answer is right."""


@dataclass(frozen=True)
class Handed:
    """An answer that a student of a whole class handed in."""

    source: str
    is_right: bool


@dataclass
class MadeClass:
    """A class: `folder` has a folder for each student, with a notebook for each lesson."""

    folder: Path
    marks: dict[str, Marks] = field(default_factory=dict)  # by lesson, by construction


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, help="how many students")
    parser.add_argument("lessons", nargs="+")
    parser.add_argument("--whole", action="store_true", help="no broken or missing work")
    parser.add_argument("--seed", type=int, default=40)
    chosen = parser.parse_args()
    course = Course(Path(__file__).parents[2])
    lessons = [course.lesson_named(name) for name in chosen.lessons]
    if chosen.whole:
        make_whole_class(chosen.folder, chosen.count, lessons, chosen.seed)
    else:
        make_class(chosen.folder, chosen.count, lessons, chosen.seed)


def make_whole_class(
    folder: Path, count: int, lessons: list[LessonFiles], seed: int = 40
) -> MadeClass:
    """Make a class whose answers all run, and of whom no two have the same answer."""
    made = MadeClass(folder)
    for files in lessons:
        rng = np.random.default_rng([seed, int(files.stem[:2])])
        exercises = read_sources(files).graded.values()
        marks = made.marks[files.stem] = {}
        for student in students(count):
            answers = {}
            for exercise in exercises:
                handed = whole_answer(exercise, rng)
                answers[exercise.name] = f"# By {student}.\n{handed.source}"
                marks[student, exercise.name] = handed.is_right
            write(files, folder / student / files.exercises.name, answers)
    return made


def make_class(folder: Path, count: int, lessons: list[LessonFiles], seed: int = 40) -> None:
    """Make a class in which everything happens."""
    rng = np.random.default_rng(seed)
    for number, student in enumerate(students(count)):
        (folder / student).mkdir(parents=True)
        for files in lessons:
            hand_in(files, folder / student / files.exercises.name, number, count, rng)


def students(count: int) -> list[str]:
    return [f"student{number:03}" for number in range(count)]


def whole_answer(exercise: Exercise, rng: np.random.Generator) -> Handed:
    """Draw a right answer, or one that is wrong in a way that the author thought of."""
    if not exercise.misconceptions or rng.random() < RIGHT_SHARE:
        return Handed(one_of(exercise.right_answers, rng).source, is_right=True)
    return Handed(held_by_many(exercise, rng).source, is_right=False)


def hand_in(
    files: LessonFiles, file: Path, number: int, count: int, rng: np.random.Generator
) -> None:
    """Of forty students, two hand nothing in, two a broken file, two a blank notebook."""
    kind = number * 20 // count
    if kind == 0:
        return
    if kind == 1:
        file.write_bytes(BROKEN_FILES[number % len(BROKEN_FILES)])
        return
    answers = {}
    if kind != 2:
        skill = rng.uniform(0.3, 0.95)
        for exercise in read_sources(files).graded.values():
            if rng.random() < 0.85:
                answers[exercise.name] = answer(exercise, skill, rng)
    write(files, file, answers)


def answer(exercise: Exercise, skill: float, rng: np.random.Generator) -> str:
    """Draw an answer: right, or wrong in a way that the author thought of, or broken."""
    if rng.random() < skill:
        return one_of(exercise.right_answers, rng).source
    if rng.random() < 0.04:
        return BROKEN_ANSWERS[rng.integers(len(BROKEN_ANSWERS))]
    return held_by_many(exercise, rng).source


def one_of(answers: list[Answer], rng: np.random.Generator) -> Answer:
    return answers[rng.integers(len(answers))]


def held_by_many(exercise: Exercise, rng: np.random.Generator) -> Answer:
    """Draw a misconception: some are held by many."""
    wrong = exercise.misconceptions
    return wrong[min(int(rng.exponential(1.5)), len(wrong) - 1)]


def write(files: LessonFiles, file: Path, answers: dict[str, str]) -> None:
    """Write the exercise notebook as it is handed out, with answers in it."""
    notebook = json.loads(files.read_blank())
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    for exercise, source in answers.items():
        cells[answer_id(exercise)]["source"] = source
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
