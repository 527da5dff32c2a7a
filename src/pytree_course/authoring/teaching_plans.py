"""Plans for teachers, by the lessons' own minutes: for one session, for a few, for a semester."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytree_course.authoring.layers import Layers, Section
from pytree_course.authoring.source_texts import in_cell
from pytree_course.authoring.sources import Exercise, LessonSources, read_sources
from pytree_course.checking.standings import hours
from pytree_course.course import Course, LessonFiles, write_file
from pytree_course.rendering import TEMPLATES, render

PAGE_FILE = "docs/plans.md"
"""The built page."""

SESSION = 90  # minutes of the one session, and of each week of a semester
AROUND = 5  # minutes at the beginning of a session, and as many at its end
FREE = SESSION - 2 * AROUND

TEMPLATES.filters |= {"hours": hours, "in_cell": in_cell}


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson as a teacher plans it."""

    files: LessonFiles
    title: str  # without what comes after a colon
    layers: Layers
    core: list[Exercise]
    others: list[Exercise]

    @classmethod
    def of(cls, sources: LessonSources) -> "Lesson":
        """Take from a lesson's sources what is planned."""
        exercises = sources.exercises.values()
        return cls(
            sources.files,
            sources.title.partition(": ")[0],
            sources.layers,
            core=[each for each in exercises if each.core],
            others=[each for each in exercises if not each.core],
        )

    def in_class(self, exercises: Sequence[Exercise]) -> Iterator["Step"]:
        """Yield the core's sections, with each exercise after the section that it is about."""
        shown: list[Section] = []
        left = list(exercises)
        for section in self.layers.core:
            shown.append(section)
            now = [each for each in left if each.section == section.slug]
            if now:
                yield Step(self, shown)
                yield from (Step(self, exercise=each) for each in now)
                shown, left = [], [each for each in left if each not in now]
        if shown:
            yield Step(self, shown)
        yield from (Step(self, exercise=each) for each in left)

    def units(self) -> Iterator["Unit"]:
        """Yield what comes into the weeks of a semester: the core, then each deeper section."""
        deeper = {section.slug for section in self.layers.deeper}
        home = [each for each in self.others if each.section not in deeper]
        yield Unit(self, self.layers.core_minutes + _minutes(self.core), None, home)
        for section in self.layers.deeper:
            home = [each for each in self.others if each.section == section.slug]
            yield Unit(self, section.minutes, section, home)


@dataclass(frozen=True)
class Step:
    """A part of a session: sections that the teacher shows, or an exercise that all do."""

    lesson: Lesson
    sections: Sequence[Section] = ()
    exercise: Exercise | None = None

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return _minutes(self.sections) if self.exercise is None else self.exercise.minutes


@dataclass(frozen=True)
class Unit:
    """What belongs into one week, and the exercises that come after it at home."""

    lesson: Lesson
    minutes: int
    section: Section | None  # a deeper one; None is the whole core
    home: list[Exercise]


def plans(course: Course) -> str:
    """Return the page of plans, of all lessons that say their minutes; "" where none does."""
    read = [read_sources(files) for files in course.lessons() if files.has_all_sources]
    lessons = [
        Lesson.of(sources)
        for sources in read
        if sources.layers.set_up and sources.layers.core_minutes
    ]
    if not lessons:
        return ""
    page = render(
        "authoring/teaching_plans.md",
        lessons=lessons,
        session_minutes=SESSION,
        around=AROUND,
        chosen=_one_session(lessons),
        weeks=_weeks(lessons),
    )
    return page + "\n"


def _one_session(lessons: Sequence[Lesson]) -> list[Step]:
    """Plan whole cores, as many as fit, each with one exercise; then more of their exercises."""
    free = FREE
    chosen: list[tuple[Lesson, list[Exercise]]] = []
    for lesson in lessons:
        shortest = sorted(lesson.core, key=lambda each: each.minutes)[:1]
        minutes = lesson.layers.core_minutes + _minutes(shortest)
        if minutes > free:
            break
        chosen.append((lesson, shortest))
        free -= minutes
    for lesson, exercises in chosen:
        for exercise in lesson.core:
            if exercise not in exercises and exercise.minutes <= free:
                exercises.append(exercise)
                free -= exercise.minutes
    return [
        step
        for lesson, exercises in chosen
        for step in lesson.in_class([each for each in lesson.core if each in exercises])
    ]


def _weeks(lessons: Sequence[Lesson]) -> list[list[Unit]]:
    """Plan weeks: every section in class, the exercises of the core too, the others at home."""
    weeks: list[list[Unit]] = []
    for unit in (unit for lesson in lessons for unit in lesson.units()):
        if not weeks or _minutes(weeks[-1]) + unit.minutes > FREE:
            weeks.append([])
        weeks[-1].append(unit)
    return weeks


def _minutes(parts: Sequence[Unit | Section | Exercise]) -> int:
    return sum(part.minutes for part in parts)


def write_plans(course: Course) -> None:
    """Write the plans of a course; one without minutes in its lessons gets none."""
    if text := plans(course):
        write_file(course.root / PAGE_FILE, text)
