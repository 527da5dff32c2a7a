"""Which cell shows each topic, correction and misconception: `covers` marks in, a table out."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytree_course.authoring.sources import (
    AuthorMistakesError,
    LessonSources,
    Mistake,
    SourceCell,
    read_sources,
)
from pytree_course.course import Course, LessonFiles, answer_id

HEADINGS = {"C": "Corrections", "M": "Misconceptions", "T": "Topics"}
"""The kinds of topics, by the first letter of their ids."""

INTRODUCTION = """\
# Traceability

Where the course shows what it has to show. `python3 course.py build` writes this page from
`sources/topics.toml` and from the `covers` marks in the lessons' sources: change those instead.
"""


@dataclass(frozen=True)
class Topic:
    """Something that the course has to show.

    Attributes
    ----------
    id
        C and a number for a correction, M and a number for a misconception, T-... for a topic.
    what
        What it is, in a few words.
    lesson
        The stem of the lesson that has to show it, if no other does.
    """

    id: str
    what: str
    lesson: str


@dataclass(frozen=True)
class Mark:
    """One cell that the author says shows a topic.

    Attributes
    ----------
    kind
        "lesson", "exercise" or "misconception".
    notebook
        The built notebook of the cell, from the course's folder.
    cell_id
        The cell there; a wrong answer is named by the answer cell that it could stand in.
    label
        What the table calls the cell.
    """

    topic: str
    kind: str
    notebook: str
    cell_id: str
    label: str


def topics_file(root: Path) -> Path:
    """Return the file that lists what the course has to show."""
    return root / "sources" / "topics.toml"


def table_file(root: Path) -> Path:
    """Return the file of the built table."""
    return root / "docs" / "traceability.md"


def read_topics(root: Path) -> dict[str, Topic]:
    """Read all topics by their ids; a course without the file has none.

    Raises
    ------
    AuthorMistakesError
        With file and line of everything that cannot be read as a topic.
    """
    file = topics_file(root)
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        named = re.search(r"line (\d+)", str(error))
        line = int(named[1]) if named else 1
        raise AuthorMistakesError([Mistake(file, line, str(error))]) from None
    lines = text.splitlines()
    topics, mistakes = {}, []
    for name, table in tables.items():
        line = next((at for at, line in enumerate(lines, 1) if line.startswith(f"{name} ")), 1)
        if name[0] not in HEADINGS:
            mistakes.append(Mistake(file, line, f"{name}: an id starts with C, M or T"))
        elif not isinstance(table, dict) or table.keys() != {"what", "lesson"}:
            mistakes.append(Mistake(file, line, f"{name}: write `what` and `lesson`, no more"))
        else:
            topics[name] = Topic(name, table["what"], table["lesson"])
    if mistakes:
        raise AuthorMistakesError(mistakes)
    return topics


def find_wrong_marks(sources: LessonSources, topics: dict[str, Topic]) -> list[Mistake]:
    """Return the marks of a lesson that name no topic, or stand where no mark is read."""
    read = {(cell.file, cell.line) for cell, _ in _marked(sources)}
    mistakes = [
        Mistake(cell.file, cell.line, f"covers: there is no {name!r} in sources/topics.toml")
        for cell, _ in _marked(sources)
        for name in cell.covers
        if name not in topics
    ]
    for cell in _all_cells(sources):
        if cell.covers and (cell.file, cell.line) not in read:
            message = "covers: only a lesson's code, an exercise or a misconception shows a topic"
            mistakes.append(Mistake(cell.file, cell.line, message))
    return mistakes


def marks(sources: LessonSources) -> list[Mark]:
    """Return all marks of a lesson, in the order of its sources."""
    return [mark for _, marks_of_cell in _marked(sources) for mark in marks_of_cell]


def _marked(sources: LessonSources) -> Iterator[tuple[SourceCell, list[Mark]]]:
    files = sources.files

    def of(cell: SourceCell, kind: str, notebook: Path, cell_id: str, label: str) -> list[Mark]:
        path = notebook.relative_to(files.root).as_posix()
        return [Mark(topic, kind, path, cell_id, label) for topic in cell.covers]

    for cell in sources.lesson:
        if cell.kind == "code":
            yield cell, of(cell, "lesson", files.notebook, cell.id, f"{files.stem}#{cell.id}")
    for name, exercise in sources.exercises.items():
        cell_id = answer_id(name)
        yield exercise.cell, of(exercise.cell, "exercise", files.exercises, cell_id, name)
        for wrong in exercise.misconceptions:
            label = f"{name} · {wrong.name}"
            yield wrong.cell, of(wrong.cell, "misconception", files.exercises, cell_id, label)


def _all_cells(sources: LessonSources) -> Iterator[SourceCell]:
    yield from sources.lesson
    yield from sources.exercise_cells
    for exercise in sources.exercises.values():
        starter = [exercise.given_starter] if exercise.given_starter else []
        for answer in (*starter, *exercise.variants, *exercise.misconceptions):
            yield answer.cell


def is_whole(files: LessonFiles) -> bool:
    """Say whether a lesson has all its sources and was built: only then must it show its topics."""
    written = (files.sources / name for name in ("lesson.md", "exercises.md", "answers.py"))
    return all(file.exists() for file in (*written, files.notebook))


class Traceability:
    """The topics of a course, and the marks in all its lessons that are whole.

    Raises
    ------
    AuthorMistakesError
        When the topics, a lesson's sources or its marks cannot be read.
    """

    def __init__(self, course: Course) -> None:
        self.topics = read_topics(course.root)
        self.lessons = [files.stem for files in course.lessons() if is_whole(files)]
        self.marks: list[Mark] = []
        mistakes: list[Mistake] = []
        for stem in self.lessons:
            sources = read_sources(course.lesson(stem))
            mistakes += find_wrong_marks(sources, self.topics)
            self.marks += marks(sources)
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
            kinds = {mark.kind for mark in self.of(topic)}
            if topic.lesson not in self.lessons:
                continue
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
    """Write the table of a course; a course without topics gets none.

    Raises
    ------
    AuthorMistakesError
        With file and line of everything that has to be mended first.
    """
    traceability = Traceability(course)
    if traceability.topics:
        file = table_file(course.root)
        file.parent.mkdir(exist_ok=True)
        file.write_text(traceability.table(), encoding="utf-8", newline="\n")
