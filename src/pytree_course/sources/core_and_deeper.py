"""The two layers of a lesson: its core, and the independent sections of "Going deeper"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytree_course.sources.source_cells import Mistake, SourceCell
from pytree_course.sources.source_texts import slug
from pytree_course.course import GOING_DEEPER

CORE_MINUTES = 20
"""The most that the core of a lesson takes to read."""
WORDS_A_MINUTE = 150
"""Between reading to learn (200) and to know by heart (138): R. P. Carver, Reading rate: theory,
research, and practical implications, Journal of Reading 36 (1992)."""
TRY = "**Try.**"
"""What a suggestion to play with the code starts with."""
SECONDS_A_LINE, SECONDS_A_PREDICTION, SECONDS_A_TRY = 5, 60, 240
"""For a line of code that is read and run, a prediction, a Try: estimates (docs/authoring.md)."""


@dataclass(frozen=True)
class Section:
    """A heading and the cells below it, up to the next heading."""

    title: str
    for_whom: str  # completes "for you if"; empty in the core
    cells: list[SourceCell]

    @property
    def slug(self) -> str:
        """The section's name in cell ids and links."""
        return slug(self.title)

    @property
    def code(self) -> list[SourceCell]:
        """Its code cells."""
        return [cell for cell in self.cells if cell.kind == "code"]

    @property
    def minutes(self) -> int:
        """How long it takes to read its text, and to read and run its code."""
        words = sum(len(cell.source.split()) for cell in self.cells if cell.kind == "markdown")
        read = [cell.source for cell in self.code if "exercise" not in cell.metadata]
        lines = sum(bool(line.strip()) for source in read for line in source.splitlines())
        return max(1, round(words / WORDS_A_MINUTE + lines * SECONDS_A_LINE / 60))

    @property
    def trying(self) -> int:
        """How many minutes its predictions, Trys and written steps take besides."""
        predictions = sum("prediction" in cell.metadata for cell in self.code)
        tries = sum(cell.source.count(TRY) for cell in self.cells)
        written = sum(cell.metadata.get("minutes", 0) for cell in self.code)
        return written + round((predictions * SECONDS_A_PREDICTION + tries * SECONDS_A_TRY) / 60)


@dataclass(frozen=True)
class Layers:
    """The sections of a lesson, in order."""

    opening: list[SourceCell]  # the title, and the imports
    core: list[Section]
    set_up: list[SourceCell]  # what "Going deeper" begins with
    deeper: list[Section]

    @property
    def core_minutes(self) -> int:
        """How long the core takes to read."""
        return sum(section.minutes for section in self.core)

    @property
    def core_trying(self) -> int:
        """How many minutes its predictions and Trys take besides."""
        return sum(section.trying for section in self.core)


def read_layers(cells: Sequence[SourceCell]) -> Layers:
    """Part a lesson's cells into sections, and these into layers."""
    parts: list[list[SourceCell]] = []
    for cell in cells:
        if cell.heading or not parts:
            parts.append([])
        parts[-1].append(cell)
    headings = [part[0].heading for part in parts]
    at = headings.index(GOING_DEEPER) if GOING_DEEPER in headings else len(parts)
    return Layers(
        opening=parts[0] if parts else [],
        core=[_section(part) for part in parts[1:at]],
        set_up=parts[at] if at < len(parts) else [],
        deeper=[_section(part) for part in parts[at + 1 :]],
    )


def find_wrong_layers(layers: Layers) -> Iterator[Mistake]:
    """Yield the mistakes in a lesson's layers; a lesson without "Going deeper" has none."""
    if not layers.set_up:
        return
    if layers.core_minutes > CORE_MINUTES:
        message = (
            f"the core takes {layers.core_minutes} minutes to read: {CORE_MINUTES} are the most"
        )
        yield layers.opening[0].mistake(message)
    for section in layers.deeper:
        if not section.for_whom:
            yield section.cells[0].mistake('say for whom it is: `+++ {"for": "you …"}` above it')


def _section(cells: list[SourceCell]) -> Section:
    return Section(str(cells[0].heading), str(cells[0].metadata.get("for", "")), cells)
