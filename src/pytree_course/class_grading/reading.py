"""Choose which of a student's notebooks counts, and read it within a budget."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from pytree_course.class_grading.attempt import Attempt, AttemptState, digest
from pytree_course.class_grading.folder import SubmittedNotebook
from pytree_course.class_grading.student_files import joined
from pytree_course.grading.submission import OVER_READING_BUDGET, Reading, Submission
from pytree_course.texts import printable

_NO_ANSWER_CELLS = (
    "the notebook has none of the answer cells: it belongs to another lesson, or something changed "
    "the ids of its cells"
)


@dataclass(frozen=True)
class ReadNotebook:
    """A notebook that was handed in, and what is in it."""

    notebook: SubmittedNotebook
    submission: Submission = field(default_factory=Submission)

    @property
    def digest(self) -> str:
        """A digest of the answers."""
        return digest(self.submission.answers)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.notebook.student, self.notebook.lesson, self.digest


def newest_first(notebooks: Iterable[SubmittedNotebook]) -> list[list[SubmittedNotebook]]:
    """Group notebooks by student and lesson, the newest of each first."""
    groups = defaultdict(list)
    for each in sorted(notebooks, key=lambda each: (each.handed_in, each.file), reverse=True):
        groups[each.student, each.lesson].append(each)
    return list(groups.values())


def over_budget(attempts: Iterable[Attempt]) -> set[tuple[str, str, datetime]]:
    """Return student, lesson and time of what took too long to read in an earlier grading."""
    return {
        (attempt.student, attempt.lesson, attempt.handed_in)
        for attempt in attempts
        if attempt.state is AttemptState.UNREADABLE and OVER_READING_BUDGET in attempt.reason
    }


def what_counts(of_one: list[SubmittedNotebook], reading: Reading) -> ReadNotebook:
    """Return the notebook that counts, of a student's notebooks for one lesson."""
    notebook = next(each for each in of_one if each.file == reading.file)
    which = cells = ""
    if len(of_one) > 1:
        last = "the last" if notebook is of_one[0] else "the last with answer cells"
        name = printable(notebook.file.name)
        which = f"of {len(of_one)} notebooks, {last} counts: {name}"
    if not (reading.problem or reading.submission.has_answer_cells):
        cells = _NO_ANSWER_CELLS
    remark = joined(notebook.remark, which, cells)
    return ReadNotebook(replace(notebook, remark=remark), reading.submission)
