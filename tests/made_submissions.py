"""A class that hands in notebooks of the small lesson: what grading a class is tested with."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace

from pytree_course.class_grading.attempt import counting_attempts
from pytree_course.class_grading.folder import read_handed_in
from pytree_course.class_grading.grade_class import ClassGrading, GradingOptions
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.grading.cell_run import CellRun
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.authors_answers import run_answer
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ExerciseNotebook

RIGHT = {
    "count_leaves": "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))",
    "first_leaf": (
        "def first_leaf(tree):\n    for leaf in jax.tree.leaves(tree):\n        return leaf\n"
        "    raise ValueError('no leaves')"
    ),
}
ELEMENTS = {"count_leaves": "def count_leaves(tree):\n    return len(tree)"}
NODES = {"count_leaves": "def count_leaves(tree):\n    return jax.tree.structure(tree).num_nodes"}

WORKED_IN = json.dumps(
    {"cells": [{"cell_type": "code", "id": "count_leaves-answer", "source": "count_leaves = len"}]}
)
"""As little as a notebook of the small lesson may be that somebody has worked in."""

EXERCISES = "01_mini_exercises.ipynb"
"""What the small lesson's exercise notebook is called."""

OWN_WORK = GradingOptions(in_sandbox=False)  # what the tests hand in is theirs


class SameProcess(Executor):
    """A pool that runs a task at once, in the thread that hands it in."""

    def submit(self, function, /, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


SAME_PROCESS = SameProcess()


def read_class(folder, course, roster=()):
    """Read what a class handed in, a folder or a zip; its grades go beside it."""
    return read_handed_in(folder, course, folder.parent / "grades", SAME_PROCESS, roster)


def found(read):
    """Return the student, the lesson and the file of each notebook that counts."""
    return [(each.student, each.lesson, each.file.name) for each in read.notebooks]


def left_out(read):
    """Return why files are not graded, by student and file."""
    return {f"{student}/{file}": why for student, file, why in read.left_out}


class MadeClass:
    """A folder that students hand in to, and the gradebook that it is graded into."""

    def __init__(self, course, course_py, tmp_path):
        self.course, self.course_py = course, course_py
        self.pool = ThreadPoolExecutor(1)
        self.folder = tmp_path / "class"
        self.into = tmp_path / "grades"
        self.ran = []  # the exercises of each run in this process

    def hand_in(self, student, answers, name=EXERCISES):
        file = self.folder / student / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.course.lesson("01_mini").blank, file)
        notebook = ExerciseNotebook(file)
        for exercise, code in answers.items():
            notebook.answer(exercise, code)
        return notebook.save()

    def run_without_kernels(self, monkeypatch):
        """Run answers in this process: for tests of what is run, and of how it is recorded."""

        def run(answers, settings, helpers):
            sources = read_sources(self.course.lesson("01_mini"))  # they may have changed
            self.ran.append([*answers])
            runs = {}
            for name, code in answers.items():
                exercise = sources.exercises[name]
                answer = replace(exercise.solution, source=code)
                check, public = (
                    CellRun(outcomes=run_answer(sources, exercise, answer, seed))
                    for seed in (settings.seed, PUBLIC_SEED)
                )
                again = public if settings.is_wrong(name, check) else None
                runs[name] = ExerciseRun(CellRun(), check, again)
            return runs

        monkeypatch.setattr("pytree_course.class_grading.grade_class.run_answers", run)
        self.pool = SAME_PROCESS

    def grade(self, options=OWN_WORK):
        with self.gradebook() as gradebook:
            grading = ClassGrading(self.course, self.read(), gradebook, options)
            grading.run(grading.find_work(), self.pool, SAME_PROCESS)
            grading.find_new_reasons()
            return grading.summary

    def read(self):
        return read_class(self.folder, self.course)

    def gradebook(self):
        return Gradebook(self.into / "gradebook.sqlite")

    def attempts(self):
        with self.gradebook() as gradebook:
            return sorted(gradebook.attempts(), key=lambda each: each.student)

    def seeds(self):
        """Return the seeds of all cases that something was graded on."""
        return {row.basis.seed for attempt in self.attempts() for row in attempt.rows}

    def points(self):
        attempts = counting_attempts(self.attempts())
        return {student: attempt.points for (student, _), attempt in attempts.items()}

    def arguments(self, *more):
        return ["grade", str(self.folder), "--into", str(self.into), "--jobs", "1", *more]

    def command(self, *arguments):
        return [sys.executable, "-m", "pytree_course", *self.arguments(*arguments)]

    @property
    def variables(self):
        return {**os.environ, "PYTREE_COURSE": str(self.course.root), "COLUMNS": "200"}

    def run(self, *arguments):
        return subprocess.run(
            self.command(*arguments),
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def run_here(self, *arguments):
        """Grade by the command in this process, answers too."""
        return self.course_py(*self.arguments(*arguments))
