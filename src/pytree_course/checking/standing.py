"""How far a learner is in a lesson."""

from dataclasses import dataclass

from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.progress import Progress


@dataclass(frozen=True)
class Standing:
    """How far a learner is in one lesson; `todo` are the exercises to solve, in order."""

    solved: int
    exercises: int
    points: int
    all_points: int
    todo: list[ExpectedExercise]

    @property
    def minutes_left(self) -> int:
        """How many minutes the rest takes, by the author's estimate."""
        return sum(exercise.minutes for exercise in self.todo)

    def __str__(self) -> str:
        line = (
            f"{self.solved} of {self.exercises} exercises, "
            f"{self.points} of {self.all_points} points"
        )
        if not self.todo:
            return f"{line}. All done: well done!"
        return f"{line}. Next: {self.todo[0].name} (about {self.todo[0].minutes} min)"


def standing(expected: Expected, progress: Progress) -> Standing:
    """Return how far a learner is in a lesson."""
    exercises = list(expected.exercises.values())
    todo = [each for each in exercises if not progress.of(expected.lesson, each.name).correct]
    return Standing(
        solved=len(exercises) - len(todo),
        exercises=len(exercises),
        points=expected.points - sum(each.points for each in todo),
        all_points=expected.points,
        todo=todo,
    )
