"""How a notebook is to be run, and how it ran."""

from dataclasses import dataclass, field

from pytree_course.course import answer_id
from pytree_course.grading import limits
from pytree_course.grading.cell_run import CellRun


@dataclass
class NotebookRun:
    """How the cells of a notebook ran, by cell id, as far as its kernel came."""

    cells: dict[str, CellRun] = field(default_factory=dict)

    def has(self, exercise: str) -> bool:
        """Say whether an exercise had its turn before the kernel ended."""
        return answer_id(exercise) in self.cells

    def cell(self, cell_id: str) -> CellRun:
        """Return how a cell ran; one that is not there did not run."""
        return self.cells.get(cell_id, CellRun())


@dataclass(frozen=True)
class RunSettings:
    """How to run answers: the seed of the cases, where, and the seconds that each may take."""

    seed: int
    in_sandbox: bool
    seconds: float = limits.EXERCISE_SECONDS
