"""Which cell shows each topic, correction and misconception: `covers` marks in, a table out."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytree_course.authoring.source_cells import AuthorMistakesError, Mistake, SourceCell
from pytree_course.authoring.source_texts import line_named_in
from pytree_course.authoring.sources import LessonSources, read_sources
from pytree_course.course import Course, answer_id, write_file

TOPICS_FILE = "sources/topics.toml"
"""Lists what the course has to show."""

TABLE_FILE = "docs/traceability.md"
"""The built table."""

HEADINGS = {"C": "Corrections", "M": "Misconceptions", "T": "Topics"}
"""The kinds of topics, by the first letter of their ids."""

INTRODUCTION = f"""\
# Traceability

Where the course shows what it has to show. `python3 course.py build` writes this page from
`{TOPICS_FILE}` and from the `covers` marks in the lessons' sources: change those instead.
"""


@dataclass(frozen=True)
class Topic:
    """Something that the course has to show."""

    id: str  # C1 is a correction, M1 a misconception, T-... a topic
    what: str
    lesson: str  # the stem of the lesson that has to show it, if no other does


@dataclass(frozen=True)
class Mark:
    """One cell that the author says shows a topic."""

    topic: str
    kind: str  # "lesson", "exercise" or "misconception"
    notebook: str  # the built notebook, from the course's folder
    cell_id: str  # for a wrong answer, the id of the answer cell
    label: str  # what the table calls the cell


def read_topics(root: Path) -> dict[str, Topic]:
    """Read all topics by their ids; a course without the file has none."""
    file = root / TOPICS_FILE
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AuthorMistakesError([Mistake(file, line_named_in(error), str(error))]) from None
    lines = text.splitlines()
    topics, mistakes = {}, []
    for name, table in tables.items():
        line = next((at for at, line in enumerate(lines, 1) if line.startswith(f"{name} ")), 1)
        if name[0] not in HEADINGS:
            mistakes.append(Mistake(file, line, f"{name}: an id starts with C, M or T"))
        elif not isinstance(table, dict) or table.keys() != {"what", "lesson"}:
            mistakes.append(Mistake(file, line, f"{name}: write `what` and `lesson`, no more"))
        else:
            topics[name] = Topic(name, **table)
    if mistakes:
        raise AuthorMistakesError(mistakes)
    return topics


def find_wrong_marks(sources: LessonSources, topics: dict[str, Topic]) -> list[Mistake]:
    """Return the marks of a lesson that name no topic, or stand where no mark is read."""
    mistakes = []
    shown = {(cell.file, cell.line) for cell, _ in _marks(sources)}
    for cell in _all_cells(sources):
        if cell.covers and (cell.file, cell.line) not in shown:
            message = "covers: only a lesson's code, an exercise or a misconception shows a topic"
            mistakes.append(cell.mistake(message))
            continue
        for name in cell.covers:
            if name not in topics:
                mistakes.append(cell.mistake(f"covers: there is no {name!r} in {TOPICS_FILE}"))
    return mistakes


def _marks(sources: LessonSources) -> Iterator[tuple[SourceCell, Mark]]:
    """Yield each mark that the table can show, and the source cell that it stands in."""
    files = sources.files
    marked = [
        (cell, "lesson", files.notebook, cell.id, f"{files.stem}#{cell.id}")
        for cell in sources.lesson
        if cell.kind == "code"
    ]
    for name, exercise in sources.exercises.items():
        where = files.exercises, answer_id(name)
        marked.append((exercise.cell, "exercise", *where, name))
        for wrong in exercise.misconceptions:
            marked.append((wrong.cell, "misconception", *where, f"{name} · {wrong.name}"))
    for cell, kind, notebook, cell_id, label in marked:
        path = notebook.relative_to(files.root).as_posix()
        for topic in cell.covers:
            yield cell, Mark(topic, kind, path, cell_id, label)


def _all_cells(sources: LessonSources) -> Iterator[SourceCell]:
    yield from sources.lesson
    yield from sources.exercise_cells
    for exercise in sources.exercises.values():
        for answer in (*exercise.given_starters, *exercise.variants, *exercise.misconceptions):
            yield answer.cell


class Traceability:
    """The topics of a course, and the marks in all its lessons that are whole."""

    def __init__(self, course: Course) -> None:
        self.topics = read_topics(course.root)
        self.lessons: list[str] = []
        self.marks: list[Mark] = []
        mistakes: list[Mistake] = []
        for files in course.lessons():
            # Only a lesson that has all its sources and was built must show its topics.
            written = (files.sources / name for name in ("lesson.md", "exercises.md", "answers.py"))
            if not all(file.exists() for file in (*written, files.notebook)):
                continue
            self.lessons.append(files.stem)
            sources = read_sources(files)
            mistakes += find_wrong_marks(sources, self.topics)
            self.marks += [mark for _, mark in _marks(sources)]
        if mistakes:
            raise AuthorMistakesError(mistakes)

    def of(self, topic: Topic) -> list[Mark]:
        """Return the marks of one topic, in the order of the lessons."""
        return [mark for mark in self.marks if mark.topic == topic.id]

    def missing(self) -> list[str]:
        """Say what the lessons that are here should show and do not.

        A topic may be shown by an exercise alone. A correction or a misconception is shown by a
        cell of a lesson, and a misconception is a wrong answer of an exercise, too.
        """
        missing = []
        for topic in self.topics.values():
            if topic.lesson not in self.lessons:
                continue
            kinds = {mark.kind for mark in self.of(topic)}
            wanted = f"{topic.id} ({topic.what}): {topic.lesson} should have"
            if not kinds or (topic.id[0] in "CM" and "lesson" not in kinds):
                missing.append(f"{wanted} a cell that shows it")
            if topic.id[0] == "M" and "misconception" not in kinds:
                missing.append(f"{wanted} a wrong answer")
        return missing

    def table(self) -> str:
        """Return the page that says where everything is shown."""
        lines = [INTRODUCTION]
        for letter, heading in HEADINGS.items():
            lines += [f"## {heading}\n", "| Id | What | Where |", "|---|---|---|"]
            for topic in self.topics.values():
                if topic.id[0] == letter:
                    where = ", ".join(map(_link, self.of(topic))) or f"to come: {topic.lesson}"
                    lines.append(f"| {topic.id} | {_in_cell(topic.what)} | {where} |")
            lines.append("")
        return "\n".join(lines)


def _link(mark: Mark) -> str:
    """Return a link that JupyterLab opens at the cell."""
    return f"[{_in_cell(mark.label)}](../{mark.notebook}#cell-id={mark.cell_id})"


def _in_cell(text: str) -> str:
    return text.replace("|", r"\|")


def write_table(course: Course) -> None:
    """Write the table of a course; a course without topics gets none."""
    traceability = Traceability(course)
    if traceability.topics:
        write_file(course.root / TABLE_FILE, traceability.table())
