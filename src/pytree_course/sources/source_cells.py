"""Read the cells of lesson.md and exercises.md."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from jupytext.myst import MystMetadataParsingError, myst_to_notebook
from markdown_it import MarkdownIt

from pytree_course.course import CourseError

HEADING = re.compile(r"##? +(.+?) *$", re.MULTILINE)
MAX_ID = 64  # characters in a cell id, by the notebook format
_ROOM_FOR_NUMBER = 12


def slug(title: str) -> str:
    """Return a section's name in cell ids: "Key paths" becomes "key-paths"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@dataclass(frozen=True)
class Mistake:
    """A mistake in the sources: file, line and message."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class AuthorMistakesError(CourseError):
    """The sources of a lesson cannot be built; the message has a line for each mistake."""

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__("\n".join(["Nothing was built. Fix this first:", *map(str, mistakes)]))
        self.mistakes = mistakes


@dataclass(frozen=True)
class SourceCell:
    """One cell as the author wrote it."""

    kind: str  # "markdown" or "code"
    source: str
    metadata: dict[str, Any]
    file: Path
    line: int  # the first line of its source, counted from 1
    id: str = ""  # in the notebook

    @property
    def heading(self) -> str | None:
        """The title, if the cell starts a section."""
        match = HEADING.match(self.source)
        return match[1] if self.kind == "markdown" and match else None

    @property
    def is_exercise(self) -> bool:
        """Whether it is an exercise's answer cell."""
        return "exercise" in self.metadata

    def mistake(self, message: str) -> Mistake:
        """Return a mistake that the author made in this cell."""
        return Mistake(self.file, self.line, message)

    def refuse(self, message: str) -> NoReturn:
        """Raise an AuthorMistakesError for a mistake in this cell."""
        raise AuthorMistakesError(self.mistake(message))


def read_source(file: Path) -> str:
    """Return the text of a source; raise AuthorMistakesError if it is missing."""
    if not file.exists():
        raise AuthorMistakesError(Mistake(file, 1, "this file is missing"))
    return file.read_text(encoding="utf-8")


def read_cells(file: Path) -> list[SourceCell]:
    """Read the cells of a file; raise AuthorMistakesError if that is not possible."""
    text = read_source(file)
    try:
        notebook = myst_to_notebook(text, add_source_map=True)
    except MystMetadataParsingError as error:
        position = re.search(r"line (\d+)", str(error))
        line = int(position[1]) if position else 1
        raise AuthorMistakesError(Mistake(file, line, str(error))) from None
    lines = text.splitlines()
    cells = []
    for cell, start in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        # jupytext gives the line where the cell's block opens; the source comes a little later.
        first_line, _, _ = cell.source.partition("\n")
        index = lines.index(first_line, start) if first_line in lines[start:] else start
        source_cell = SourceCell(cell.cell_type, cell.source, dict(cell.metadata), file, index + 1)
        cells += _split_at_headings(source_cell) if cell.cell_type == "markdown" else [source_cell]
    return _with_ids(cells)


def _split_at_headings(cell: SourceCell) -> list[SourceCell]:
    """Split a Markdown cell at its headings, so that each section starts with a cell."""
    lines = cell.source.splitlines()
    starts = {
        token.map[0]
        for token in MarkdownIt().parse(cell.source)
        if token.markup in ("#", "##") and token.level == 0 and token.map
    }
    parts = []
    for start, end in pairwise([*sorted({0, *starts}), len(lines)]):
        source = "\n".join(lines[start:end]).strip("\n")
        metadata = cell.metadata if start == 0 else {}
        parts.append(SourceCell("markdown", source, metadata, cell.file, cell.line + start))
    return parts


def _with_ids(cells: list[SourceCell]) -> list[SourceCell]:
    """Give cells ids by section, so that a new cell changes no id in another section."""
    authors_ids = {str(cell.metadata["id"]) for cell in cells if "id" in cell.metadata}
    with_ids = []
    section, number = "start", 0
    for cell in cells:
        if cell.heading:
            section, number = slug(cell.heading)[: MAX_ID - _ROOM_FOR_NUMBER], 0
        if "id" in cell.metadata:
            cell_id = str(cell.metadata["id"])
        else:
            number += 1
            while f"{section}-{number}" in authors_ids:
                number += 1
            cell_id = f"{section}-{number}"
        with_ids.append(replace(cell, id=cell_id))
    return with_ids
