"""A learner's standing: points, minutes left in the core and in all of a lesson, badges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytree_course.course import Course, LessonFiles
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts, LessonSection
from pytree_course.learner.progress import Progress
from pytree_course.texts import counted, hours

MIN_LESSONS = 5  # for the badges of all lessons, in a copy with fewer, too
MIN_PREDICTIONS = 10
MIN_WITHOUT_HINT = 5


@dataclass(frozen=True)
class Counts:
    """The numbers of exercises and of solved ones, in the core or in all of a lesson."""

    exercises: int  # of the exercise notebook
    solved: int
    practice: int  # exercises in the lesson itself
    practised: int


@dataclass(frozen=True)
class CoreMinutes:
    """The minutes that the core of a lesson or of the course takes."""

    in_all: int  # with everything that the core asks the learner to do
    lessons_left: int  # to read, with predictions, Trys and practice
    exercises_left: int

    @property
    def left(self) -> int:
        """The minutes left."""
        return self.lessons_left + self.exercises_left

    @classmethod
    def together(cls, cores: Sequence["CoreMinutes"]) -> "CoreMinutes":
        """Return the sum over several lessons."""
        return cls(
            in_all=sum(core.in_all for core in cores),
            lessons_left=sum(core.lessons_left for core in cores),
            exercises_left=sum(core.exercises_left for core in cores),
        )

    def __str__(self) -> str:
        if not self.left:
            return "done"
        parts = {"lessons": self.lessons_left, "exercises": self.exercises_left}
        texts = [f"{name} {format_minutes(minutes)}" for name, minutes in parts.items() if minutes]
        return f"{format_minutes(self.left)} left ({', '.join(texts)})"


@dataclass(frozen=True)
class Standing:
    """A learner's standing in one lesson."""

    core: Counts
    everything: Counts
    core_minutes: CoreMinutes
    todo: list[ExerciseFacts]  # exercises and practice to solve, the core's first
    points: int
    all_points: int
    others_solved: int  # exercises and practice beyond the core
    deeper_read: int  # notebooks

    @property
    def is_core_done(self) -> bool:
        """Whether the lesson has core exercises, and all of the core is solved."""
        return self.core.exercises > 0 and not any(exercise.core for exercise in self.todo)

    @property
    def are_core_exercises_done(self) -> bool:
        """Whether the core exercises are solved, whatever practice in the lesson is left."""
        return 0 < self.core.exercises == self.core.solved

    @property
    def next(self) -> ExerciseFacts | None:
        """The exercise to solve next."""
        return self.todo[0] if self.todo else None

    @property
    def counts(self) -> str:
        """Exercises, points and practice so far, in one line."""
        everything, core = self.everything, self.core
        parts = [f"{everything.solved} of {everything.exercises} exercises"]
        parts.append(f"{self.points} of {self.all_points} points")
        if everything.practice:
            parts.append(f"practice {everything.practised} of {everything.practice}")
        line = ", ".join(parts)
        if core.exercises and self.next:
            solved = f"{core.solved} of {core.exercises} exercises"
            line = f"{line}; core: {'done' if self.is_core_done else solved}"
        return line

    def __str__(self) -> str:
        if self.next is None:
            return f"{self.counts}. All done: well done!"
        kind = "practice, " if self.next.is_practice else ""
        step = f"{self.next.title} ({kind}{format_minutes(self.next.minutes)})"
        return f"{self.counts}. {'Also here' if self.is_core_done else 'Next'}: {step}"


def standing(expected: BuiltLesson, progress: Progress) -> Standing:
    """Return a learner's standing in a lesson."""
    exercises = list(expected.exercises.values())
    core = [exercise for exercise in exercises if exercise.core]
    todo = _todo(expected, progress)
    todo.sort(key=lambda exercise: not exercise.core)
    unread = unread_sections(expected, progress)
    return Standing(
        core=_counts(core, todo),
        everything=_counts(exercises, todo),
        core_minutes=_core_minutes(expected, todo, unread),
        todo=todo,
        points=expected.points - sum(exercise.points for exercise in todo),
        all_points=expected.points,
        others_solved=sum(not exercise.core for exercise in exercises if exercise not in todo),
        deeper_read=sum(section not in unread for section in expected.deeper.values()),
    )


def lesson_to_go_on_with(course: Course) -> LessonFiles | None:
    """Return the first lesson with core exercises that are not solved; None if all are."""
    progress = Progress.load(course.progress_file)
    for files in course.lessons():
        core = standing(BuiltLesson.read(files.expected), progress).core
        if core.solved < core.exercises:
            return files
    return None


def _counts(exercises: Iterable[ExerciseFacts], todo: list[ExerciseFacts]) -> Counts:
    graded = [exercise for exercise in exercises if not exercise.is_practice]
    practice = [exercise for exercise in exercises if exercise.is_practice]
    return Counts(
        exercises=len(graded),
        solved=sum(exercise not in todo for exercise in graded),
        practice=len(practice),
        practised=sum(exercise not in todo for exercise in practice),
    )


def _core_minutes(
    expected: BuiltLesson, todo: list[ExerciseFacts], unread: list[LessonSection]
) -> CoreMinutes:
    exercises = [exercise for exercise in expected.exercises.values() if exercise.core]
    sections = [section for section in expected.sections.values() if not section.deeper]
    to_read = [section for section in sections if section in unread]
    to_practise = [exercise for exercise in todo if exercise.core and exercise.is_practice]
    to_solve = [exercise for exercise in todo if exercise.core and not exercise.is_practice]
    return CoreMinutes(
        in_all=_minutes(exercises) + sum(section.all_minutes for section in sections),
        lessons_left=sum(section.all_minutes for section in to_read) + _minutes(to_practise),
        exercises_left=_minutes(to_solve),
    )


def _minutes(exercises: Iterable[ExerciseFacts]) -> int:
    return sum(exercise.minutes for exercise in exercises)


def describe_beyond_core(standings: Sequence[Standing]) -> str:
    """Say how much was done beyond the core; "" if nothing was."""
    solved = sum(now.others_solved for now in standings)
    read = sum(now.deeper_read for now in standings)
    parts = []
    if solved:
        parts.append(f"{counted(solved, 'other exercise', 'other exercises')} solved")
    if read:
        parts.append(f"{counted(read, 'deeper notebook', 'deeper notebooks')} read")
    return ", ".join(parts)


def _todo(expected: BuiltLesson, progress: Progress) -> list[ExerciseFacts]:
    """Return the exercises that are not solved, in the lesson's order."""
    return [
        exercise
        for exercise in expected.exercises.values()
        if not progress.in_exercise(expected.lesson, exercise.name).correct
    ]


def unread_sections(expected: BuiltLesson, progress: Progress) -> list[LessonSection]:
    """Return the sections that do not count as read yet, in order.

    The course knows only which predictions were made, and which exercises were solved. So a section
    counts as read once its last prediction is made, or an exercise about it is solved; a section
    without either, once all exercises are solved.
    The core is read from top to bottom: the sections above count as read, too, and all of the core
    once its exercises are solved. Deeper sections are read in any order.
    """
    exercises = expected.exercises.values()
    todo = _todo(expected, progress)
    read = {exercise.section for exercise in exercises if exercise not in todo}
    for slug, section in expected.sections.items():
        if section.predictions:
            is_read = (expected.lesson, section.predictions[-1]) in progress.predictions
        else:
            is_read = not todo
        if is_read:
            read.add(slug)
    core = [slug for slug, section in expected.sections.items() if not section.deeper]
    has_core = any(exercise.core for exercise in exercises)
    if has_core and not any(exercise.core for exercise in todo):
        read.update(core)
    while core and core[-1] not in read:
        core.pop()
    read.update(core)
    return [section for slug, section in expected.sections.items() if slug not in read]


def format_minutes(minutes: int) -> str:
    """Write an estimate: `about 25 minutes`, `about 1 h 7 min`."""
    if minutes < 60:
        return f"about {counted(minutes, 'minute', 'minutes')}"
    return f"about {hours(minutes)}"


@dataclass(frozen=True)
class Badge:
    """A reward, earned or still to be earned."""

    symbol: str
    name: str
    condition: str
    is_earned: bool


def badges(lessons: Sequence[BuiltLesson], progress: Progress) -> list[Badge]:
    """Return all badges of a course with these lessons, earned or not."""
    exercises = [
        (exercise, progress.in_exercise(lesson.lesson, exercise.name))
        for lesson in lessons
        for exercise in lesson.exercises.values()
    ]
    solved = [(exercise, work) for exercise, work in exercises if work.correct]
    has_silent_bug = any(exercise.silent_bug for exercise, _ in solved)
    has_three_stars = any(exercise.stars == 3 for exercise, _ in solved)
    without_help = sum(not work.hints and not work.saw_solution for _, work in solved)
    standings = [standing(lesson, progress) for lesson in lessons]
    lessons_done = sum(not now.todo for now in standings)
    cores_done = sum(now.are_core_exercises_done for now in standings)
    all_lessons = max(MIN_LESSONS, len(lessons))
    all_cores = max(MIN_LESSONS, sum(now.core.exercises > 0 for now in standings))
    has_predicted = len(progress.predictions) >= MIN_PREDICTIONS
    alone = f"solve {MIN_WITHOUT_HINT} exercises without a hint"
    each_core = f"solve the core exercises of all {all_cores} lessons"
    each_lesson = f"solve all exercises of all {all_lessons} lessons"
    return [
        Badge("❦", "First leaf", "solve an exercise", bool(solved)),
        Badge("◇", "Fortune teller", f"make {MIN_PREDICTIONS} predictions", has_predicted),
        Badge("⚑", "Bug hunter", "catch a silent bug: solve an exercise about one", has_silent_bug),
        Badge("◆", "On my own", alone, without_help >= MIN_WITHOUT_HINT),
        Badge("★", "Three stars", "solve an exercise of three stars", has_three_stars),
        Badge("◉", "First core", "solve the core exercises of a lesson", cores_done > 0),
        Badge("❁", "The core", each_core, cores_done == all_cores),
        Badge("✓", "Whole lesson", "solve all exercises of a lesson", lessons_done > 0),
        Badge("♛", "Evergreen", each_lesson, lessons_done == all_lessons),
    ]
