"""Make a class: notebooks right, wrong by misconception, blank, half done and broken.

python benchmarks/made_class.py FOLDER 40 01_leaves 02_tree_map
"""

import json
import sys
from pathlib import Path

import numpy as np

from pytree_course.authoring.sources import Exercise, read_sources
from pytree_course.course import Course, LessonFiles, answer_id

BROKEN_ANSWERS = (
    "while True: pass",
    "import os; os._exit(1)",
    "raise ValueError('my own')",
    "def broken(:",
    "print('x' * 300_000_000)",
)
BROKEN_FILES = (b"", b'{"cells": 3}', b"\xff\xfe not a notebook", b'{"worksheets": []}')


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    course = Course(Path(__file__).parents[1])
    lessons = [course.lesson_named(name) for name in sys.argv[3:]]
    rng = np.random.default_rng(40)
    for number in range(count):
        student = folder / f"student{number:02}"
        student.mkdir(parents=True)
        for files in lessons:
            hand_in(files, student / f"{files.stem}.ipynb", number, count, rng)


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
    notebook = json.loads(files.read_blank())
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    if kind != 2:
        skill = rng.uniform(0.3, 0.95)
        for exercise in read_sources(files).exercises.values():
            if rng.random() < 0.85:
                cells[answer_id(exercise.name)]["source"] = answer(exercise, skill, rng)
    file.write_text(json.dumps(notebook), encoding="utf-8")


def answer(exercise: Exercise, skill: float, rng: np.random.Generator) -> str:
    """Draw an answer: right, or wrong in a way that the author thought of, or broken."""
    right = [exercise.solution, *exercise.variants]
    if rng.random() < skill:
        return right[rng.integers(len(right))].source
    if rng.random() < 0.04:
        return BROKEN_ANSWERS[rng.integers(len(BROKEN_ANSWERS))]
    # Some misconceptions are held by many.
    wrong = exercise.misconceptions
    return wrong[min(int(rng.exponential(1.5)), len(wrong) - 1)].source


if __name__ == "__main__":
    main()
