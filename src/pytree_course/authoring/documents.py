"""Generate documents: the traceability table, the teaching plans and the table of modules."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytree_course.course import Course, answer_id
from pytree_course.learner.standings import hours
from pytree_course.rendering import render
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources, Section, read_sources
from pytree_course.sources.source_cells import Mistake, SourceCell

TOPICS_FILE = "sources/topics.toml"
"""The list of topics that the course has to show."""

TABLE_FILE = "docs/traceability.md"
"""The built table."""

KINDS = {"C": "Corrections", "M": "Misconceptions", "T": "Topics"}
"""The kinds of topics, by the first letter of their ids."""


@dataclass(frozen=True)
class Topic:
    """A topic that the course has to show."""

    id: str  # C1 is a correction, M1 a misconception, T-... a topic
    what: str
    lesson: str  # the stem of the lesson that has to show it, if no other does


@dataclass(frozen=True)
class Mark:
    """A cell that, according to its author, shows a topic."""

    topic: str
    kind: str  # "lesson", "exercise" or "misconception"
    notebook: str  # the built notebook's path in the course's folder
    cell_id: str  # for a wrong answer, the id of the answer cell
    label: str  # the cell's name in the table


def read_topics(root: Path) -> dict[str, Topic]:
    """Read all topics by id; a course without the file has none."""
    file = root / TOPICS_FILE
    if not file.exists():
        return {}
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: Topic(name, **table) for name, table in tables.items()}


def read_marks(course: Course) -> dict[str, list[Mark]]:
    """Read the marks of each lesson that has all of its sources and is built."""
    return {
        files.stem: [mark for _, mark in _marks(read_sources(files))]
        for files in course.lessons()
        if files.has_all_sources and files.notebook.exists()
    }


def find_wrong_marks(sources: LessonSources) -> list[Mistake]:
    """Return a mistake for each mark of a lesson that names an unknown topic."""
    topics = read_topics(sources.files.root)
    return [
        cell.mistake(f"covers: there is no {mark.topic!r} in {TOPICS_FILE}")
        for cell, mark in _marks(sources)
        if mark.topic not in topics
    ]


def _marks(sources: LessonSources) -> Iterator[tuple[SourceCell, Mark]]:
    """Yield each mark of a lesson, with its source cell."""
    files = sources.files
    notebooks = {id(cell): files.notebook for cell in sources.lesson}
    for section in sources.layers.deeper:
        notebooks |= {id(cell): files.deeper(section.slug) for cell in section.cells}
    marked = [
        (cell, "lesson", notebooks[id(cell)], cell.id, f"{files.stem}#{cell.id}")
        for cell in sources.all_cells
        if cell.kind == "code" and not cell.is_exercise
    ]
    for name, exercise in sources.exercises.items():
        where = notebooks.get(id(exercise.cell), files.exercises), answer_id(name)
        marked.append((exercise.cell, "exercise", *where, name))
        for wrong in exercise.misconceptions:
            marked.append((wrong.cell, "misconception", *where, f"{name} · {wrong.name}"))
    for cell, kind, notebook, cell_id, label in marked:
        path = notebook.relative_to(files.root).as_posix()
        for topic in cell.covers:
            yield cell, Mark(topic, kind, path, cell_id, label)


def table(course: Course) -> str:
    """Return the traceability page, which lists where each topic is shown; "" without topics."""
    topics = read_topics(course.root)
    if not topics:
        return ""
    marks = [mark for each in read_marks(course).values() for mark in each]
    shown = [
        (topic, [mark for mark in marks if mark.topic == topic.id]) for topic in topics.values()
    ]
    page = render("authoring/traceability.md", topics_file=TOPICS_FILE, kinds=KINDS, shown=shown)
    return page + "\n"


PAGE_FILE = "docs/plans.md"
"""The built page."""

SESSION = 90  # minutes of the one session
AROUND = 5  # minutes at the beginning of a session, and as many at its end
FREE = SESSION - 2 * AROUND


class Step(NamedTuple):
    """A step of a session: sections that the teacher shows, or an exercise that everyone does."""

    lesson: LessonSources
    minutes: int
    sections: Sequence[Section] = ()
    exercise: Exercise | None = None


def plans(course: Course) -> str:
    """Return the page of teaching plans for all lessons with a core; "" if there is none."""
    read = [read_sources(files) for files in course.lessons() if files.has_all_sources]
    lessons = [each for each in read if each.layers.ending and each.layers.core_minutes]
    if not lessons:
        return ""
    page = render(
        "authoring/teaching_plans.md",
        lessons=lessons,
        alone=sum(
            lesson.layers.core_with_everything + _minutes(_core(lesson)) for lesson in lessons
        ),
        session_minutes=SESSION,
        around=AROUND,
        hours=hours,
        one_session=_one_session(lessons),
        session_of={lesson.files.stem: [*_in_class(lesson, _core(lesson))] for lesson in lessons},
    )
    return page.rstrip() + "\n"


def _core(lesson: LessonSources) -> list[Exercise]:
    return [each for each in lesson.graded.values() if each.core]


def _in_class(lesson: LessonSources, exercises: Sequence[Exercise]) -> Iterator[Step]:
    """Yield the core's steps, with each exercise after the section that it is about."""
    shown: list[Section] = []
    left = list(exercises)
    for section in lesson.layers.core:
        shown.append(section)
        now = [each for each in left if each.section == section.slug]
        if now:
            yield Step(lesson, _minutes(shown), shown)
            yield from (Step(lesson, each.minutes, exercise=each) for each in now)
            shown, left = [], [each for each in left if each not in now]
    if shown:
        yield Step(lesson, _minutes(shown), shown)
    yield from (Step(lesson, each.minutes, exercise=each) for each in left)


def _one_session(lessons: Sequence[LessonSources]) -> list[Step]:
    """Plan as many whole cores as fit, each with one exercise; then add exercises."""
    free = FREE
    chosen: list[tuple[LessonSources, list[Exercise]]] = []
    for lesson in lessons:
        shortest = sorted(_core(lesson), key=lambda each: each.minutes)[:1]
        minutes = lesson.layers.core_minutes + _minutes(shortest)
        if minutes > free:
            break
        chosen.append((lesson, shortest))
        free -= minutes
    for lesson, exercises in chosen:
        for exercise in _core(lesson):
            if exercise not in exercises and exercise.minutes <= free:
                exercises.append(exercise)
                free -= exercise.minutes
    return [
        step
        for lesson, exercises in chosen
        for step in _in_class(lesson, [each for each in _core(lesson) if each in exercises])
    ]


def _minutes(parts: Sequence[Section | Exercise]) -> int:
    return sum(part.minutes for part in parts)


PAGE = "docs/architecture.md"
_TABLE = re.compile(r"(?<=<!-- modules -->\n).*(?=<!-- end of modules -->)", re.DOTALL)


def with_module_table(course: Course) -> str:
    """Return docs/architecture.md with its table of modules generated from the code.

    Return "" for a course without that page.
    """
    if not (course.root / PAGE).exists():
        return ""
    package = course.root / "src" / "pytree_course"
    rooms: dict[str, dict[str, str]] = defaultdict(dict)
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        room = name.partition("/")[0] if "/" in name else ""
        rooms[room][name] = docstring.partition("\n")[0].replace("|", "\\|")
    text = render("authoring/modules.md", rooms=dict(sorted(rooms.items())))
    page = (course.root / PAGE).read_text(encoding="utf-8")
    return _TABLE.sub(lambda _: f"{text}\n\n", page)


GENERATED = {TABLE_FILE: table, PAGE_FILE: plans, PAGE: with_module_table}
"""The documents that are made from all lessons and the code: by path, the function that does."""
