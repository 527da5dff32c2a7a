"""The author's answers' way through the pool, to what submissions are judged by."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytree_course.checking.expected import ExpectedExercise
from pytree_course.course import CourseError, LessonFiles
from pytree_course.grading.lesson import GradedLesson, forget_authors_runs, run_authors_answers


@dataclass(frozen=True, eq=False)
class AuthorsTask:
    """The right answer to an exercise, or all wrong ones, to be run on the cases of a seed."""

    files: LessonFiles
    digest: str  # of the exercises and their checks
    seed: int
    exercise: str
    right: ExpectedExercise | None = None  # where the wrong ones are to be run: what it yields

    def run(self) -> ExpectedExercise:
        """Run the answers; this happens in the pool."""
        _forget_unless_of((self.digest, self.seed))
        try:
            return run_authors_answers(
                self.files, self.digest, self.seed, self.exercise, self.right
            )
        finally:
            if self.right is not None:
                forget_authors_runs()  # wrong answers are many


_latest: list[tuple[str, int]] = []  # lesson and seed that this process has run answers of


def _forget_unless_of(lesson: tuple[str, int]) -> None:
    """Forget an earlier lesson's runs: the right answers to one share much that is compiled."""
    if _latest != [lesson]:
        forget_authors_runs()
        _latest[:] = [lesson]


class AuthorsRuns:
    """Has each exercise's answers run once for each seed: the right one, and, if asked, the others.

    Parameters
    ----------
    add
        Hands a task to the pool, before all submissions that wait.
    """

    def __init__(self, add: Callable[[AuthorsTask], None]) -> None:
        self._add = add
        self._asked: set[tuple[str, int, str, bool]] = set()
        self._failures: dict[tuple[str, int], dict[str, Exception]] = defaultdict(dict)
        self._lessons: dict[tuple[str, int], GradedLesson] = {}

    def ask_right(self, lesson: GradedLesson) -> None:
        """Have all right answers of a lesson run."""
        self._ask(lesson, lesson.points, explained=False)

    def ask_explained(self, lesson: GradedLesson, exercises: Iterable[str]) -> None:
        """Have all wrong answers to exercises run."""
        self._ask(lesson, exercises, explained=True)

    def _ask(self, lesson: GradedLesson, exercises: Iterable[str], explained: bool) -> None:
        self._lessons[lesson.files.stem, lesson.seed] = lesson
        for name in exercises:
            key = (lesson.files.stem, lesson.seed, name, explained)
            if key not in self._asked and not lesson.has(name, explained=explained):
                self._asked.add(key)
                right = lesson.right(name) if explained else None
                files = LessonFiles(lesson.files.root, lesson.files.stem)
                self._add(AuthorsTask(files, lesson.digest, lesson.seed, name, right))

    def take(self, task: AuthorsTask, result: ExpectedExercise | Exception) -> None:
        """Keep what came of a task."""
        key = task.files.stem, task.seed
        if isinstance(result, CourseError):
            raise result
        if isinstance(result, Exception):
            self._failures[key][task.exercise] = result
        else:
            self._lessons[key].keep(result, explained=task.right is not None)

    def failure(self, lesson: GradedLesson) -> Exception | None:
        """Return why an answer to a lesson's exercises could not be run; None if all could."""
        failures = self._failures[lesson.files.stem, lesson.seed].values()
        return next(iter(failures), None)
