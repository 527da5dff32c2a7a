"""What an exercise notebook calls: `check = Checks("01_leaves")`, `check.count_leaves(...)`."""

import difflib
import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from IPython.display import display

from pytree_course.checking.cases import Check
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.feedback import Feedback, Reread, feedback, note, section_link
from pytree_course.checking.progress import Progress
from pytree_course.checking.running import PUBLIC_SEED, run_check
from pytree_course.checking.verdicts import Verdict, VerdictKind, judge
from pytree_course.layout import Course, LessonFiles

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable that grading sets: checks then only report what they saw on that seed."""

OUTCOMES_MIME = "application/vnd.pytree-course.outcomes+json"
"""MIME type of the outcomes that a check reports to grading."""

TRIES_BEFORE_SOLUTION = 3


class Checks:
    """The checks of one lesson, each an attribute of its exercise's name.

    Parameters
    ----------
    lesson
        The lesson's stem, such as "01_leaves".

    Raises
    ------
    CourseNotFoundError
        When the notebook is not inside the course's folder.
    LookupError
        When there is no such lesson.

    Examples
    --------
    >>> check = Checks("01_leaves")  # doctest: +SKIP
    >>> check.count_leaves(count_leaves)  # doctest: +SKIP
    """

    def __init__(self, lesson: str) -> None:
        course = Course.find()
        self._files = course.lesson_named(lesson)
        # A solution notebook is nobody's own work: it earns no progress.
        is_solution = Path.cwd().name == self._files.solutions.parent.name
        self._progress_file = None if is_solution else course.progress_file

    @cached_property
    def _expected(self) -> Expected:
        return Expected.read(self._files.expected)

    @cached_property
    def _checks(self) -> dict[str, Check]:
        return self._files.checks()

    @cached_property
    def _progress(self) -> Progress:
        return Progress.load(self._progress_file)

    def __dir__(self) -> list[str]:
        return sorted(self._expected.exercises)

    def __getattr__(self, name: str) -> "ExerciseCheck":
        if name.startswith("_"):
            raise AttributeError(name)
        exercise = self._expected.exercises.get(name)
        if exercise is None:
            near = difflib.get_close_matches(name, self._expected.exercises, n=1)
            there_are = f"Did you mean {near[0]!r}?" if near else f"There are: {dir(self)}."
            raise AttributeError(f"This lesson has no exercise {name!r}. {there_are}")
        return ExerciseCheck(
            self._files, self._checks[name], exercise, self._expected, self._progress
        )

    def __repr__(self) -> str:
        return f"Checks({self._files.stem!r}): {_standing(self._expected, self._progress)}"


class ExerciseCheck:
    """The check of one exercise: call it with your answer; ask it for a hint or the solution."""

    def __init__(
        self,
        files: LessonFiles,
        check: Check,
        exercise: ExpectedExercise,
        expected: Expected,
        progress: Progress,
    ) -> None:
        self._files = files
        self._check = check
        self._exercise = exercise
        self._expected = expected
        self._progress = progress

    def __call__(self, *answers: Any) -> None:
        """Run the check's cases on your answer and show the verdict.

        Parameters
        ----------
        *answers
            What your answer cell defined.
        """
        wanted = self._exercise.answers
        if len(answers) != len(wanted):
            call = f"check.{self._exercise.name}({', '.join(wanted)})"
            raise TypeError(f"This check takes {len(wanted)} answer(s): run {call}")
        seed = os.environ.get(SEED_VARIABLE)
        if seed is not None:
            self._report(answers, int(seed))
            return
        verdict = judge(self._exercise, run_check(self._check, answers, PUBLIC_SEED))
        if verdict.kind is VerdictKind.CORRECT:
            self._keep("correct")
        elif verdict.kind is not VerdictKind.NOT_ATTEMPTED:
            self._keep("tried")
        display(self._feedback(verdict))

    def hint(self) -> None:
        """Show one more hint, under those already opened."""
        hints = self._exercise.hints
        if self._done.hints < len(hints):
            self._keep("hint")
        opened = hints[: self._done.hints]
        title = f"Hint {len(opened)} of {len(hints)} for {self._exercise.name}"
        left = len(hints) - len(opened)
        more = "Run this again for the next one." if left else "That was the last hint."
        display(note("☞", title, [*opened, more]))

    def solution(self) -> None:
        """Show the solution: after a correct answer, or after three tries."""
        name = self._exercise.name
        title = f"Solution of {name}"
        if not self._files.solutions.exists():
            display(note("☞", title, ["This copy of the course has no solutions in it."]))
        elif not (self._done.correct or self._done.tries >= TRIES_BEFORE_SOLUTION):
            left = TRIES_BEFORE_SOLUTION - self._done.tries
            tries = f"{left} more {'tries' if left > 1 else 'try'}"
            wait = f"It opens after a correct answer, or after {tries}. "
            display(note("☞", title, [wait + f"For a hint: `check.{name}.hint()`"]))
        else:
            self._keep("solution")
            display(note("☞", title, ["One right way; yours may be another."], self._solution()))

    @property
    def _done(self) -> Any:
        return self._progress.of(self._expected.lesson, self._exercise.name)

    def _keep(self, event: str) -> None:
        self._progress.add(self._expected.lesson, self._exercise.name, event)

    def _report(self, answers: tuple[Any, ...], seed: int) -> None:
        outcomes = [outcome.to_json() for outcome in run_check(self._check, answers, seed)]
        display({OUTCOMES_MIME: outcomes, "text/plain": "reported"}, raw=True)

    def _solution(self) -> str:
        notebook = json.loads(self._files.solutions.read_text(encoding="utf-8"))
        cells = {cell["id"]: cell for cell in notebook["cells"]}
        return "".join(cells[f"{self._exercise.name}-answer"]["source"])

    def _feedback(self, verdict: Verdict) -> Feedback:
        if verdict.kind is VerdictKind.CORRECT:
            standing = _standing(self._expected, self._progress)
            return feedback(verdict, standing=standing)
        hint = f"`check.{self._exercise.name}.hint()`"
        if verdict.kind is VerdictKind.NOT_ATTEMPTED:
            return feedback(
                verdict,
                advice=[
                    "Write your answer in the cell above and run that cell, then run this one.",
                    f"Not sure how to start? Run {hint} in a new cell.",
                ],
            )
        advice = [self._next_help(hint)]
        slug = self._exercise.section
        if verdict.misconceptions:
            slug = verdict.misconceptions[0].section
        title = self._expected.sections[slug]
        reread = Reread(title, section_link(self._expected.lesson, title))
        return feedback(verdict, advice=advice, reread=reread)

    def _next_help(self, hint: str) -> str:
        left = len(self._exercise.hints) - self._done.hints
        if left > 0:
            return f"For a hint ({left} left): {hint}"
        if self._done.tries >= TRIES_BEFORE_SOLUTION and self._files.solutions.exists():
            return f"For the solution: `check.{self._exercise.name}.solution()`"
        return f"To see the hints again: {hint}"


def _standing(expected: Expected, progress: Progress) -> str:
    """Say how far the learner is in a lesson, and what comes next."""
    exercises = expected.exercises.values()
    correct = [each for each in exercises if progress.of(expected.lesson, each.name).correct]
    points = sum(each.points for each in correct)
    all_points = sum(each.points for each in exercises)
    line = f"{len(correct)} of {len(exercises)} exercises, {points} of {all_points} points"
    todo = [each for each in exercises if each not in correct]
    if not todo:
        return f"{line}. All done: well done!"
    return f"{line}. Next: {todo[0].name} (about {todo[0].minutes} min)"
