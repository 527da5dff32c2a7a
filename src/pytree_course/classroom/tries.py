"""Which of a student's tries at a lesson are run, and on which cases each."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from pytree_course.classroom.attempt import MOST_TRIES, Attempt, AttemptState
from pytree_course.classroom.folder import SubmittedNotebook
from pytree_course.grading.submission import Submission

Key = tuple[str, str, str]
"""A student, a lesson, and a digest of the answers."""


@dataclass(frozen=True)
class Try:
    """A notebook that was handed in and could be read."""

    notebook: SubmittedNotebook
    submission: Submission
    digest: str  # of the answers
    remark: str = ""  # for the teacher

    @property
    def key(self) -> Key:
        """The student, the lesson, and a digest of the answers."""
        return self.notebook.student, self.notebook.lesson, self.digest


def admitted(tries: Iterable[Try], graded: Collection[str], best: bool) -> Sequence[str]:
    """Return the digests of those of a student's tries at a lesson that are run.

    Where the last one counts, these are the newest ones. Where the best one counts, these are the
    first ones, and `graded` holds the digests of those that were graded earlier.
    """
    different = [*dict.fromkeys(each.digest for each in tries)]
    if not best:
        return different[-MOST_TRIES:]
    new = [digest for digest in different if digest not in graded]
    return [*graded, *new[: MOST_TRIES - len(graded)]]


def not_run(tries: int, best: bool) -> str:
    """Say that tries were not run, and why."""
    which = "first" if best else "newest"
    notebooks = "1 other notebook was" if tries == 1 else f"{tries:,} other notebooks were"
    return f"{notebooks} not run: only the {which} {MOST_TRIES} different notebooks run"


class Seeds:
    """The seeds that a student's tries are graded with: no two of a student's have the same.

    Otherwise one could learn from a try how to pass the next one, or have the best of many by
    luck. The first tries of all students share a seed, and so on: the author's answers take long.
    """

    def __init__(self, of_run: Callable[[str, int], int], attempts: Iterable[Attempt]) -> None:
        self._of_run = of_run
        self._taken: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for each in attempts:
            if each.state is AttemptState.GRADED:
                self._taken[each.student, each.lesson][each.answers_digest] = each.seed

    def of(self, key: Key) -> int:
        """Return the run's first seed that none of the student's other tries has."""
        student, lesson, digest = key
        taken = self._taken[student, lesson]
        others = {seed for other, seed in taken.items() if other != digest}
        seeds = (self._of_run(lesson, at) for at in count())
        taken[digest] = next(seed for seed in seeds if seed not in others)
        return taken[digest]
