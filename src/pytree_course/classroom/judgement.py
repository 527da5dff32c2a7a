"""Answers that ran wait here until the author's have, by which they are judged."""

from dataclasses import dataclass

from pytree_course.classroom.authors_run import AuthorsRuns
from pytree_course.classroom.submission_run import SubmissionRun, SubmissionTask
from pytree_course.grading.grade import failed_exercises
from pytree_course.grading.lesson import GradedLesson


@dataclass
class Judgement:
    """Answers that ran, and wait for what is needed to judge them."""

    task: SubmissionTask
    lesson: GradedLesson
    run: SubmissionRun
    failed: list[str] | None = None  # exercises; not known before the right answers have been run

    def is_ready(self, authors: AuthorsRuns) -> bool:
        """Say whether all is there; what is missing is asked for, and what never comes raises."""
        if failure := authors.failure(self.lesson):
            raise failure
        if not all(self.lesson.has(name, explained=False) for name in self.lesson.points):
            return False
        if self.failed is None:
            self.failed = failed_exercises(self.lesson, self.run.exercises)
            authors.ask_explained(self.lesson, self.failed)
        return all(self.lesson.has(name, explained=True) for name in self.failed)
