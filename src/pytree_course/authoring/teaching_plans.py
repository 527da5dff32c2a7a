"""Plans for teachers, by the lessons' own minutes: for one session, for a few, for a semester."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytree_course.authoring.layers import Section
from pytree_course.authoring.sources import Exercise, LessonSources, read_sources
from pytree_course.checking.standings import hours
from pytree_course.course import Course, write_file
from pytree_course.texts import counted

PAGE_FILE = "docs/teaching.md"
"""The page that has the plans in it, between the two marks."""

BEGIN = "<!-- The build writes from here, by the minutes in the lessons' sources, -->"
END = "<!-- to here. -->"

SESSION = 90  # minutes of the one session, and of each week of a semester
WELCOME = "Welcome. Everybody opens the lesson and runs its first cell"
RECAP = "Look back: what was hard in the exercises?"
QUESTIONS = "Questions, and time for those who are not done yet"
OPENING = CLOSING = 5  # minutes; at the end it may be more

NOT_YET = "The lessons do not say yet how many minutes their sections take."


@dataclass(frozen=True)
class Step:
    """Something that is done in class, and for how long."""

    minutes: int
    who: str
    what: str


@dataclass(frozen=True)
class Unit:
    """What belongs into one week, and the exercises that come after it at home."""

    lesson: str
    minutes: int
    what: str
    home: list[Exercise]


class Lesson:
    """A lesson as a teacher plans it."""

    def __init__(self, sources: LessonSources) -> None:
        self.title = _plain(sources.title.partition(": ")[0])
        self.layers = sources.layers
        self._files = sources.files
        self.exercises = list(sources.exercises.values())
        self.core = [each for each in self.exercises if each.core]
        self.others = [each for each in self.exercises if not each.core]

    def in_class(self, exercises: Sequence[Exercise]) -> Iterator[Step]:
        """Yield the core's sections, with each exercise after the section that it is about."""
        shown: list[Section] = []
        left = list(exercises)
        for section in self.layers.core:
            shown.append(section)
            now = [each for each in left if each.section == section.slug]
            if now:
                yield self._show(shown)
                yield from map(self._do, now)
                shown, left = [], [each for each in left if each not in now]
        if shown:
            yield self._show(shown)
        yield from map(self._do, left)

    def units(self) -> Iterator[Unit]:
        """Yield what comes into the weeks of a semester: the core, then each deeper section."""
        deeper = {section.slug for section in self.layers.deeper}
        core = self.layers.core_minutes + _minutes(self.core)
        home = [each for each in self.others if each.section not in deeper]
        yield Unit(self.title, core, f"the core, with its exercises ({core})", home)
        for section in self.layers.deeper:
            home = [each for each in self.others if each.section == section.slug]
            yield Unit(self.title, section.minutes, self._link(section), home)

    def _show(self, sections: Sequence[Section]) -> Step:
        return Step(_minutes(sections), "you show", ", ".join(map(self._link, sections)))

    def _do(self, exercise: Exercise) -> Step:
        notebook = f"../exercises/{self._files.stem}.ipynb"
        return Step(exercise.minutes, "they do", f"exercise [{_plain(exercise.title)}]({notebook})")

    def _link(self, section: Section) -> str:
        anchor = section.title.replace(" ", "-")
        link = f"../notebooks/{self._files.stem}.ipynb#{anchor}"
        return f"[{_plain(section.title)}](<{link}>) ({section.minutes})"


def plans(course: Course) -> str:
    """Return the plans for a course; lessons without minutes have no part in them."""
    lessons = []
    for files in course.lessons():
        written = (files.sources / name for name in ("lesson.md", "exercises.md", "answers.py"))
        if all(file.exists() for file in written):
            sources = read_sources(files)
            if sources.layers.set_up and sources.layers.core_minutes:
                lessons.append(Lesson(sources))
    if not lessons:
        return NOT_YET
    return "\n".join([*_one_session(lessons), *_each_lesson(lessons), *_semester(lessons)]).strip()


def _one_session(lessons: Sequence[Lesson]) -> Iterator[str]:
    """Plan whole cores, as many as fit, each with one exercise; then more of their exercises."""
    free = SESSION - OPENING - CLOSING
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
    steps = [Step(OPENING, "all", WELCOME)]
    for lesson, exercises in chosen:
        first, *more = lesson.in_class([each for each in lesson.core if each in exercises])
        steps += [Step(first.minutes, first.who, f"**{lesson.title}**: {first.what}"), *more]
    yield f"### One session of {SESSION} minutes\n"
    cores = counted(len(chosen), "lesson", "lessons")
    yield f"The cores of the first {cores}. What comes after them is for home.\n"
    yield from _table([*steps, Step(CLOSING + free, "all", QUESTIONS)])


def _each_lesson(lessons: Sequence[Lesson]) -> Iterator[str]:
    """Plan a session for each lesson: its core and all core exercises."""
    yield "### A session for each lesson\n"
    yield "Each session has the core of a lesson, and its core exercises.\n"
    for place, lesson in enumerate(lessons):
        steps = [
            Step(OPENING, "all", RECAP if place else WELCOME),
            *lesson.in_class(lesson.core),
            Step(CLOSING, "all", QUESTIONS),
        ]
        yield f"#### {lesson.title}, {_minutes(steps)} minutes\n"
        yield from _table(steps)
        deeper = hours(_minutes(lesson.layers.deeper))
        yield f"At home: {_at_home(lesson.others)}\n"
        yield f'For those who want more: "Going deeper", {deeper} in all.\n'


def _semester(lessons: Sequence[Lesson]) -> Iterator[str]:
    """Plan weeks: every section in class, the exercises of the core too, the others at home."""
    most = SESSION - OPENING - CLOSING
    weeks: list[list[Unit]] = []
    for unit in (unit for lesson in lessons for unit in lesson.units()):
        if not weeks or _minutes(weeks[-1]) + unit.minutes > most:
            weeks.append([])
        weeks[-1].append(unit)
    home = sum(_minutes(unit.home) for week in weeks for unit in week)
    yield "### A semester's share\n"
    yield (
        f"Everything, in {counted(len(weeks), 'week', 'weeks')} with a session of {SESSION} "
        f"minutes each, and {hours(home)} of exercises at home in all. The minutes in class are "
        "those of the sections and the core exercises. The rest of a session is for looking back "
        "at the exercises, and for questions.\n"
    )
    yield "| Week | In class | At home |"
    yield "|---|---|---|"
    for number, week in enumerate(weeks, 1):
        by_lesson: dict[str, list[str]] = {}
        for unit in week:
            by_lesson.setdefault(unit.lesson, []).append(unit.what)
        in_class = "; ".join(f"**{of}**: {', '.join(by_lesson[of])}" for of in by_lesson)
        exercises = [exercise for unit in week for exercise in unit.home]
        yield f"| {number} | {_minutes(week)} min. {in_class} | {_at_home(exercises)} |"
    yield ""


def _at_home(exercises: Sequence[Exercise]) -> str:
    if not exercises:
        return "nothing new"
    listed = ", ".join(f"{_plain(each.title)} ({each.minutes})" for each in exercises)
    return f"{hours(_minutes(exercises))}. {listed}"


def _table(steps: Sequence[Step]) -> Iterator[str]:
    yield "| From | Minutes | Who | What |"
    yield "|---|---|---|---|"
    begun = 0
    for step in steps:
        yield f"| {begun // 60}:{begun % 60:02} | {step.minutes} | {step.who} | {step.what} |"
        begun += step.minutes
    yield f"| {begun // 60}:{begun % 60:02} | | | the end |\n"


def _minutes(parts: Sequence[Step | Unit | Section | Exercise]) -> int:
    return sum(part.minutes for part in parts)


def _plain(title: str) -> str:
    """Return a title as it stands in a table."""
    return title.replace("|", r"\|")


def split_page(text: str) -> tuple[str, str, str] | None:
    """Return the page before the plans, the plans, and what comes after; None: it has no marks."""
    before, begin, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        return None
    return before, inside.strip(), after


def write_plans(course: Course) -> None:
    """Write the plans into the teachers' page, if there is one with marks."""
    page = course.root / PAGE_FILE
    parts = split_page(page.read_text(encoding="utf-8")) if page.exists() else None
    if parts is not None:
        before, _, after = parts
        write_file(page, f"{before}{BEGIN}\n\n{plans(course)}\n\n{END}{after}")
