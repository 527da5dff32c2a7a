"""Generate the traceability table: which cells show each topic that the course has to show."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytree_course.course import Course, answer_id
from pytree_course.rendering import render
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from pytree_course.sources.source_cells import Mistake, SourceCell

TOPICS_FILE = "sources/topics.toml"
"""The list of topics that the course has to show."""

PAGE = "docs/traceability.md"
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
