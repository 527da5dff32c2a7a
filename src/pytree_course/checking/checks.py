"""What an exercise notebook calls: `check = Checks("01_leaves")`, `check.count_leaves(...)`."""

import difflib
import json
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from IPython.display import display

from pytree_course import nbgrader
from pytree_course.checking.cases import Check
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.feedback import Feedback, Reread, feedback, note, section_link
from pytree_course.checking.outcomes import PUBLIC_SEED, CaseInterrupted, run_check
from pytree_course.checking.progress import ExerciseProgress, Progress
from pytree_course.checking.standing import standing
from pytree_course.checking.verdicts import Verdict, VerdictKind, judge
from pytree_course.course import Course, LessonFiles

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable that grading sets: checks then only report what they saw on that seed."""

OUTCOMES_MIME = "application/vnd.pytree-course.outcomes+json"
"""MIME type of the outcomes that a check reports to grading."""

TRIES_BEFORE_SOLUTION = 3

Presenter = Callable[[Feedback, "ExerciseCheck"], None]
"""Shows the feedback of a check that was just run."""


class Checks:
    """The checks of one lesson, each an attribute of its exercise's name.

    Parameters
    ----------
    lesson
        The lesson's stem, such as "01_leaves".

    Raises
    ------
    CourseError
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
        self._presenter: Presenter = lambda shown, _: display(shown)
        self._files = course.lesson_named(lesson)
        # A solution notebook is nobody's own work, and what nbgrader runs is somebody else's: they
        # earn no progress here.
        is_solution = Path.cwd().name == self._files.solutions.parent.name
        foreign = is_solution or nbgrader.is_running()
        self._progress_file = None if foreign else course.progress_file

    @property
    def is_graded(self) -> bool:
        """Whether this notebook runs in grading, where nobody is at work."""
        return SEED_VARIABLE in os.environ or nbgrader.is_running()

    def present_with(self, presenter: Presenter) -> None:
        """Have feedback shown by a function of one's own."""
        self._presenter = presenter

    @cached_property
    def expected(self) -> Expected:
        """What is expected in the lesson, and what to say about it."""
        return Expected.read(self._files.expected)

    @cached_property
    def _checks(self) -> dict[str, Check]:
        return self._files.checks()

    @cached_property
    def progress(self) -> Progress:
        """What the learner did so far."""
        return Progress.load(self._progress_file)

    def __dir__(self) -> list[str]:
        return sorted(self.expected.exercises)

    def __getattr__(self, name: str) -> "ExerciseCheck":
        if name.startswith("_"):
            raise AttributeError(name)
        exercise = self.expected.exercises.get(name)
        if exercise is None:
            near = difflib.get_close_matches(name, self.expected.exercises, n=1)
            there_are = f"Did you mean {near[0]!r}?" if near else f"There are: {dir(self)}."
            raise AttributeError(f"This lesson has no exercise {name!r}. {there_are}")
        return ExerciseCheck(self, self._checks[name], exercise)

    def __repr__(self) -> str:
        return f"Checks({self._files.stem!r}): {standing(self.expected, self.progress)}"


class ExerciseCheck:
    """The check of one exercise: call it with your answer; ask it for a hint or the solution."""

    def __init__(self, checks: Checks, check: Check, exercise: ExpectedExercise) -> None:
        self._checks = checks
        self._check = check
        self._exercise = exercise

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
        if SEED_VARIABLE in os.environ:
            self._report(answers, int(os.environ[SEED_VARIABLE]))
        elif nbgrader.is_running():
            with nbgrader.stderr_on_stdout():
                verdict = self._look_at(answers)
            if verdict is None or verdict.kind is not VerdictKind.CORRECT:
                reason = "it yielded no verdict" if verdict is None else verdict.reason
                raise nbgrader.NotCorrectError(f"{self._exercise.name}: {reason}")
        else:
            self._look_at(answers)

    def _look_at(self, answers: tuple[Any, ...]) -> Verdict | None:
        """Run the check and show what came of it; None when there is no verdict to be had."""
        if self._exercise.functions and not all(map(callable, answers)):
            names = ", ".join(self._exercise.answers)
            display(note("→", f"Hand over {names} itself", [f"Write `{names}` without `()`."]))
            return None
        try:
            verdict = judge(self._exercise, run_check(self._check, answers, PUBLIC_SEED))
        except CaseInterrupted as stopped:
            given = ", ".join(stopped.written)
            display(note("⏱", "You stopped it", [f"Your code was working on `{given}`."]))
            return None
        if verdict.kind is VerdictKind.CORRECT:
            self._keep("correct")
        elif verdict.kind is not VerdictKind.NOT_ATTEMPTED:
            self._keep("tried")
        self._checks._presenter(self._feedback(verdict), self)
        return verdict

    def __repr__(self) -> str:
        name = self._exercise.name
        call = f"check.{name}({', '.join(self._exercise.answers)})"
        return f"Check your answer with {call}; for a hint: check.{name}.hint()"

    def hint(self) -> None:
        """Show one more hint, under those already opened."""
        display(self.next_hint())

    def solution(self) -> None:
        """Show the solution: after a correct answer, or after three tries."""
        display(self.solution_if_due())

    @property
    def is_solved(self) -> bool:
        """Whether a right answer has been checked."""
        return self._done.correct

    @property
    def hints_left(self) -> int:
        """How many hints have not been opened yet."""
        return len(self._exercise.hints) - min(self._done.hints, len(self._exercise.hints))

    @property
    def solution_is_due(self) -> bool:
        """Whether the solution is here, and the learner has earned a look at it."""
        earned = self._done.correct or self._done.tries >= TRIES_BEFORE_SOLUTION
        return earned and self._files.solutions.exists()

    def next_hint(self) -> Feedback:
        """Open one more hint, and return it with those already opened."""
        if self.hints_left:
            self._keep("hint")
        hints = self._exercise.hints
        opened = hints[: self._done.hints]
        title = f"Hint {len(opened)} of {len(hints)} for {self._exercise.name}"
        more = "Ask again for the next one." if self.hints_left else "That was the last hint."
        return note("☞", title, [*opened, more])

    def solution_if_due(self) -> Feedback:
        """Return the solution, or what is to be done before it opens."""
        title = f"Solution of {self._exercise.name}"
        if not self._files.solutions.exists():
            return note("☞", title, ["This copy of the course has no solutions in it."])
        if not self.solution_is_due:
            left = TRIES_BEFORE_SOLUTION - self._done.tries
            tries = f"{left} more {'tries' if left > 1 else 'try'}"
            hint = f"For a hint: `check.{self._exercise.name}.hint()`"
            return note("☞", title, [f"It opens after a correct answer, or after {tries}. {hint}"])
        self._keep("solution")
        return note("☞", title, ["One right way; yours may be another."], self._solution())

    @property
    def _files(self) -> LessonFiles:
        return self._checks._files

    @property
    def _expected(self) -> Expected:
        return self._checks.expected

    @property
    def _progress(self) -> Progress:
        return self._checks.progress

    @property
    def _done(self) -> ExerciseProgress:
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
            return feedback(verdict, standing=str(standing(self._expected, self._progress)))
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
        if self.hints_left:
            return f"For a hint ({self.hints_left} left): {hint}"
        if self.solution_is_due:
            return f"For the solution: `check.{self._exercise.name}.solution()`"
        return f"To see the hints again: {hint}"
