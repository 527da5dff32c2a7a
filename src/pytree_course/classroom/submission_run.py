"""One submission's way through the pool: what goes to a process, and what comes back."""

import time
from dataclasses import dataclass

from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.kernel_course import KernelCourse
from pytree_course.grading.notebook_run import RunSettings


@dataclass(frozen=True)
class SubmissionRun:
    """How a submission's answers ran, by exercise, and the seconds that all took."""

    exercises: dict[str, ExerciseRun]
    seconds: float


@dataclass(frozen=True, eq=False)
class SubmissionTask:
    """Answers to be run, with all that a process needs for it, on whatever machine.

    Whose they are does not matter there: equal answers of several students run once.
    """

    answers: dict[str, str]
    blank: str  # the exercise notebook as it was handed out
    course: KernelCourse
    settings: RunSettings

    def run(self) -> SubmissionRun:
        """Run the answers; this happens in the pool."""
        start = time.perf_counter()
        runs = run_answers(self.answers, self.blank, self.course, self.settings)
        return SubmissionRun(runs, time.perf_counter() - start)
