"""What the pool's processes run: a submission's answers, and the author's own."""

import time
from dataclasses import dataclass

from pytree_course.checking.expected import ExpectedExercise
from pytree_course.course import LessonFiles
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.kernel_course import KernelCourse, RunSettings
from pytree_course.grading.lesson import forget_authors_runs, run_authors_answers


@dataclass(frozen=True)
class SubmissionRun:
    """How a submission's answers ran, by exercise, and the seconds that all took."""

    exercises: dict[str, ExerciseRun]
    seconds: float


def run_submission(
    answers: dict[str, str], blank: str, course: KernelCourse, settings: RunSettings
) -> SubmissionRun:
    """Run a submission's answers in `blank`, the exercise notebook as it was handed out."""
    start = time.perf_counter()
    runs = run_answers(answers, blank, course, settings)
    return SubmissionRun(runs, time.perf_counter() - start)


def run_authors(
    files: LessonFiles, digest: str, seed: int, exercise: str, right: ExpectedExercise | None
) -> ExpectedExercise:
    """Run the right answer to an exercise; or all wrong ones, given what the right one yields."""
    try:
        return run_authors_answers(files, digest, seed, exercise, right)
    finally:
        if right is not None:
            forget_authors_runs()  # wrong answers are many; right ones share much that is compiled
