"""A learner's standing: points, minutes left in the core and in all of a lesson, badges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytree_course.judging.expected import BuiltLesson, ExerciseFacts, LessonSection
from pytree_course.learner.progress import Progress
from pytree_course.texts import counted


@dataclass(frozen=True)
class Way:
    """How far a learner is on one way through a lesson or the course: its core, or everything."""

    exercises: int  # those of the exercise notebook
    practice: int  # the exercises that stand in the lesson
    todo: list[ExerciseFacts]  # exercises and practice to solve, in order
    minutes: int  # that the whole way takes, with everything that it asks the learner to do
    reading_left: int  # minutes of the sections that are not read yet, with predictions and Trys

    @property
    def solved(self) -> int:
        """How many exercises are solved, practice not counted."""
        return self.exercises - sum(not exercise.is_practice for exercise in self.todo)

    @property
    def practised(self) -> int:
        """How much of the practice is solved."""
        return self.practice - sum(exercise.is_practice for exercise in self.todo)

    @property
    def exercises_left(self) -> int:
        """The minutes that the remaining exercises take."""
        return sum(exercise.minutes for exercise in self.todo if not exercise.is_practice)

    @property
    def lessons_left(self) -> int:
        """The minutes that the rest of the lessons takes, practice included."""
        return self.reading_left + sum(
            exercise.minutes for exercise in self.todo if exercise.is_practice
        )

    @property
    def minutes_left(self) -> int:
        """The minutes that the rest takes."""
        return self.lessons_left + self.exercises_left

    @classmethod
    def together(cls, ways: Sequence["Way"]) -> "Way":
        """Return the sum of several ways, such as the cores of all lessons."""
        return cls(
            exercises=sum(way.exercises for way in ways),
            practice=sum(way.practice for way in ways),
            todo=[exercise for way in ways for exercise in way.todo],
            minutes=sum(way.minutes for way in ways),
            reading_left=sum(way.reading_left for way in ways),
        )

    def __str__(self) -> str:
        if not self.minutes_left:
            return "done"
        parts = {"lessons": self.lessons_left, "exercises": self.exercises_left}
        left = ", ".join(f"{name} {about(minutes)}" for name, minutes in parts.items() if minutes)
        return f"{about(self.minutes_left)} left ({left})"


@dataclass(frozen=True)
class Standing:
    """How far a learner is in one lesson, on both ways through it."""

    core: Way
    everything: Way
    points: int
    all_points: int
    deeper_read: int  # notebooks

    @property
    def core_is_done(self) -> bool:
        """Whether the lesson has core exercises, and they and the core's practice are solved."""
        return self.core.exercises > 0 and not self.core.todo

    @property
    def next(self) -> ExerciseFacts | None:
        """The exercise to solve next: those of the core come first."""
        return next(iter((*self.core.todo, *self.everything.todo)), None)

    def __str__(self) -> str:
        all_of_it, core = self.everything, self.core
        parts = [f"{all_of_it.solved} of {all_of_it.exercises} exercises"]
        parts.append(f"{self.points} of {self.all_points} points")
        if all_of_it.practice:
            parts.append(f"practice {all_of_it.practised} of {all_of_it.practice}")
        line = ", ".join(parts)
        if self.next is None:
            return f"{line}. All done: well done!"
        if core.exercises:
            of = "done" if self.core_is_done else f"{core.solved} of {core.exercises} exercises"
            line = f"{line}; core: {of}"
        kind = "practice, " if self.next.is_practice else ""
        return f"{line}. Next: {self.next.name} ({kind}{about(self.next.minutes)})"


def standing(expected: BuiltLesson, progress: Progress) -> Standing:
    """Return how far a learner is in a lesson."""
    unread = unread_sections(expected, progress)

    def way(*, deeper: bool) -> Way:
        exercises = [
            exercise for exercise in expected.exercises.values() if exercise.core or deeper
        ]
        sections = [
            section for section in expected.sections.values() if deeper or not section.deeper
        ]
        left = [section for section in unread if deeper or not section.deeper]
        return Way(
            exercises=sum(not exercise.is_practice for exercise in exercises),
            practice=sum(exercise.is_practice for exercise in exercises),
            todo=_todo(exercises, expected.lesson, progress),
            minutes=sum(exercise.minutes for exercise in exercises)
            + sum(section.with_everything for section in sections),
            reading_left=sum(section.with_everything for section in left),
        )

    everything = way(deeper=True)
    points_left = sum(exercise.points for exercise in everything.todo)
    return Standing(
        core=way(deeper=False),
        everything=everything,
        points=expected.points - points_left,
        all_points=expected.points,
        deeper_read=sum(section not in unread for section in expected.deeper.values()),
    )


def beyond(standings: Iterable[Standing]) -> str:
    """Say what was done beyond the core, which is there to choose from; "" if nothing was."""
    solved = read = 0
    for now in standings:
        everything, core = now.everything, now.core
        solved += everything.solved + everything.practised - core.solved - core.practised
        read += now.deeper_read
    parts = [f"{counted(solved, 'other exercise', 'other exercises')} solved"] if solved else []
    parts += [f"{counted(read, 'deeper notebook', 'deeper notebooks')} read"] if read else []
    return ", ".join(parts)


def _todo(
    exercises: Iterable[ExerciseFacts], lesson: str, progress: Progress
) -> list[ExerciseFacts]:
    return [exercise for exercise in exercises if not progress.of(lesson, exercise.name).correct]


def unread_sections(expected: BuiltLesson, progress: Progress) -> list[LessonSection]:
    """Return the sections that do not count as read yet, in order.

    Nothing tells what somebody has read. What is known: which predictions were made, and which
    exercises were solved. So a section counts as read once its last prediction is made, or an
    exercise about it is solved; one with neither, once all exercises are solved.
    The core is read from top to bottom: all that is above counts as read, too, and all of it once
    its exercises are solved. Deeper sections are read in any order, each for itself.
    """
    lesson, exercises = expected.lesson, expected.exercises.values()
    todo = _todo(exercises, lesson, progress)
    read = {exercise.section for exercise in exercises if exercise not in todo}
    for slug, section in expected.sections.items():
        asked = section.predictions[-1:]
        if (lesson, *asked) in progress.predictions or not (asked or todo):
            read.add(slug)
    core = [slug for slug, section in expected.sections.items() if not section.deeper]
    furthest = max((at for at, slug in enumerate(core, 1) if slug in read), default=0)
    if any(exercise.core for exercise in exercises) and not any(exercise.core for exercise in todo):
        furthest = len(core)
    read.update(core[:furthest])
    return [section for slug, section in expected.sections.items() if slug not in read]


def about(minutes: int) -> str:
    """Write minutes as estimates that they are: `about 25 minutes`, `about 5.5 hours`."""
    if minutes < MANY_MINUTES:
        return f"about {counted(minutes, 'minute', 'minutes')}"
    return f"about {round(minutes / 30) / 2:g} hours"


MANY_MINUTES = 100
LESSONS_AT_LEAST = 5
"""A copy with fewer lessons does not give the last badge away."""
MANY_PREDICTIONS = 10
MANY_WITHOUT_HINT = 5


@dataclass(frozen=True)
class Badge:
    """A reward, earned or still to be earned."""

    symbol: str
    name: str
    how: str
    earned: bool


def badges(lessons: Sequence[BuiltLesson], progress: Progress) -> list[Badge]:
    """Return all badges of a course with these lessons, earned or not."""
    exercises = [
        (exercise, progress.of(lesson.lesson, exercise.name))
        for lesson in lessons
        for exercise in lesson.exercises.values()
    ]
    solved = [(exercise, done) for exercise, done in exercises if done.correct]
    silent_bug = any(exercise.silent_bug for exercise, _ in solved)
    three_stars = any(exercise.stars == 3 for exercise, _ in solved)
    without_help = sum(not done.hints and not done.saw_solution for _, done in solved)
    standings = [standing(lesson, progress) for lesson in lessons]
    whole_lessons = sum(not now.everything.todo for now in standings)
    cores = sum(now.core_is_done for now in standings)
    enough_predictions = len(progress.predictions) >= MANY_PREDICTIONS
    alone = f"solve {MANY_WITHOUT_HINT} exercises without a hint"
    in_all = max(LESSONS_AT_LEAST, len(lessons))
    in_all_cores = max(LESSONS_AT_LEAST, sum(now.core.exercises > 0 for now in standings))
    all_cores = f"solve the core exercises of all {in_all_cores} lessons"
    all_lessons = f"solve all exercises of all {in_all} lessons"
    return [
        Badge("❦", "First leaf", "solve an exercise", bool(solved)),
        Badge("◇", "Fortune teller", f"make {MANY_PREDICTIONS} predictions", enough_predictions),
        Badge("⚑", "Bug hunter", "catch a silent bug: solve an exercise about one", silent_bug),
        Badge("◆", "On my own", alone, without_help >= MANY_WITHOUT_HINT),
        Badge("★", "Three stars", "solve an exercise of three stars", three_stars),
        Badge("◉", "First core", "solve the core exercises of a lesson", cores > 0),
        Badge("❁", "The core", all_cores, cores == in_all_cores),
        Badge("✓", "Whole lesson", "solve all exercises of a lesson", whole_lessons > 0),
        Badge("♛", "Evergreen", all_lessons, whole_lessons == in_all),
    ]
