"""Read the sources of a lesson, and divide it into its core and its deeper sections."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pytree_course.cases.case import Check, load_checks
from pytree_course.course import GOING_DEEPER, LessonFiles
from pytree_course.judging.expected import LessonSection, Prediction
from pytree_course.sources.exercises import Exercise, read_answers, read_exercises, read_practice
from pytree_course.sources.needed_code import used_code
from pytree_course.sources.predictions import read_predictions, with_shuffled_options
from pytree_course.sources.source_cells import SourceCell, read_cells, slug
from pytree_course.texts import text_digest

WORDS_PER_MINUTE = 150
"""Between reading to learn (200) and to memorise (138): R. P. Carver, Reading rate: theory,
research, and practical implications, Journal of Reading 36 (1992)."""
HIDE_INPUT = "hide-input"
"""The tag of a cell whose code is folded, such as that of a picture: on the website, too."""
TRY = "**Try.**"
"""Start of a suggestion to play with the code."""
SECONDS_PER_LINE, SECONDS_PER_PREDICTION, SECONDS_PER_TRY = 5, 60, 240
"""Estimates: to read and run a line of code, for a prediction, for a Try (docs/authoring.md)."""


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
    def link_end(self) -> str:
        """The end of a link to its notebook, in the list of deeper sections."""
        return f"/{self.slug}.ipynb)"

    @property
    def code(self) -> list[SourceCell]:
        """Its code cells, except for the answer cells of exercises, and for folded code."""
        code = [cell for cell in self.cells if cell.kind == "code" and not cell.is_exercise]
        return [cell for cell in code if HIDE_INPUT not in cell.metadata.get("tags", ())]

    @property
    def minutes(self) -> int:
        """How many minutes it takes to read its text, and to read and run its code."""
        words = sum(len(cell.source.split()) for cell in self.cells if cell.kind == "markdown")
        lines = sum(bool(line.strip()) for cell in self.code for line in cell.source.splitlines())
        return max(1, round(words / WORDS_PER_MINUTE + lines * SECONDS_PER_LINE / 60))

    @property
    def all_minutes(self) -> int:
        """How many minutes it takes with everything that it asks the reader to do."""
        writing = sum(int(cell.metadata["minutes"]) for cell in self.cells if cell.is_exercise)
        return self.minutes + self.trying + writing

    @property
    def trying(self) -> int:
        """How many minutes its predictions and Trys add."""
        predictions = sum("prediction" in cell.metadata for cell in self.code)
        tries = sum(cell.source.count(TRY) for cell in self.cells)
        return round((predictions * SECONDS_PER_PREDICTION + tries * SECONDS_PER_TRY) / 60)


@dataclass(frozen=True)
class Layers:
    """The sections of a lesson, in order."""

    opening: list[SourceCell]  # the title, and the imports
    core: list[Section]
    ending: list[SourceCell]  # the list of the deeper sections
    deeper: list[Section]

    @property
    def core_minutes(self) -> int:
        """How many minutes it takes to read the core."""
        return sum(section.minutes for section in self.core)

    @property
    def core_with_everything(self) -> int:
        """How many minutes the core takes with everything that it asks the reader to do."""
        return sum(section.all_minutes for section in self.core)


def _section(cells: list[SourceCell]) -> Section:
    return Section(str(cells[0].heading), str(cells[0].metadata.get("for", "")), cells)


@dataclass(frozen=True)
class LessonSources:
    """The parsed sources of one lesson."""

    files: LessonFiles
    lesson: list[SourceCell]
    deeper: list[list[SourceCell]]  # the cells of each deeper section
    predictions: dict[str, Prediction]
    exercise_cells: list[SourceCell]
    exercises: dict[str, Exercise]

    @property
    def title(self) -> str:
        """The lesson's title."""
        return next((cell.heading for cell in self.lesson if cell.heading), self.files.stem)

    @cached_property
    def layers(self) -> Layers:
        """The lesson's core, and its deeper sections in the order of their list."""
        parts: list[list[SourceCell]] = []
        for cell in self.lesson:
            if cell.heading or not parts:
                parts.append([])
            parts[-1].append(cell)
        headings = [part[0].heading for part in parts]
        end_of_core = headings.index(GOING_DEEPER) if GOING_DEEPER in headings else len(parts)
        ending = [cell for part in parts[end_of_core:] for cell in part]
        listed = "\n".join(cell.source for cell in ending)
        sections = [_section(part) for part in self.deeper if part]
        return Layers(
            opening=parts[0] if parts else [],
            core=[_section(part) for part in parts[1:end_of_core]],
            ending=ending,
            deeper=sorted(sections, key=lambda section: listed.find(section.link_end)),
        )

    @property
    def all_cells(self) -> list[SourceCell]:
        """The cells of the lesson and of all deeper sections."""
        return [*self.lesson, *(cell for section in self.deeper for cell in section)]

    @cached_property
    def sections(self) -> dict[str, LessonSection]:
        """The lesson's sections by slug, with the facts that a learner's progress depends on."""
        opening = Section(self.title, "", self.layers.opening)
        return {
            section.slug: LessonSection(
                title=section.title,
                # The opening is the title and the imports, which nobody reads for long.
                minutes=0 if section is opening else section.minutes,
                trying=section.trying,
                deeper=section in self.layers.deeper,
                predictions=[cell.id for cell in section.cells if cell.id in self.predictions],
            )
            for section in (opening, *self.layers.core, *self.layers.deeper)
        }

    @cached_property
    def checks(self) -> dict[str, Check]:
        """The checks by the exercises' names; none if there is no check script."""
        return load_checks(self.files.check_script) if self.files.has_exercises else {}

    @property
    def graded(self) -> dict[str, Exercise]:
        """The exercises of the exercise notebook; the others are in the lesson."""
        return {
            name: exercise for name, exercise in self.exercises.items() if not exercise.is_practice
        }

    @property
    def deciding_digests(self) -> dict[str, str]:
        """A digest for each exercise, by name, of everything that decides its results and points.

        That is its set-up cell, starter and solution, its points, and its check with what the check
        uses of its script. Prompts, hints, titles and explanations are not part of it.
        """
        script = self.files.check_script.read_text(encoding="utf-8")
        digests = {}
        for name, exercise in self.exercises.items():
            texts = [exercise.setup, exercise.starter.source, exercise.solution.source]
            texts += [*exercise.answers, str(exercise.points)]
            digests[name] = text_digest(*texts, *used_code(script, name))
        return digests

    @property
    def practice_digest(self) -> str:
        """A digest of the cells of the exercises in the lesson; "" if it has none."""
        texts: list[str] = []
        for exercise in self.exercises.values():
            if exercise.is_practice:
                texts += [exercise.setup, exercise.cell.source, str(exercise.cell.metadata)]
        return text_digest(*texts) if texts else ""


def read_sources(files: LessonFiles) -> LessonSources:
    """Read the sources of a lesson; raise AuthorMistakesError at the first mistake in them."""
    predictions: dict[str, Prediction] = {}
    notebooks = []
    for file in (files.sources / "lesson.md", *files.deeper_files()):
        cells = read_cells(file)
        in_file = read_predictions(cells)
        predictions |= in_file
        notebooks.append(with_shuffled_options(cells, in_file))
    lesson, *deeper = notebooks
    _refuse_shared_ids([cell for cells in notebooks for cell in cells], predictions)
    exercise_cells: list[SourceCell] = []
    exercises: dict[str, Exercise] = {}
    if files.has_exercises:
        exercise_cells = read_cells(files.sources / "exercises.md")
        all_exercises = read_practice(lesson, core=True)
        for cells in deeper:
            all_exercises += read_practice(cells, core=False)
        all_exercises += read_exercises(exercise_cells)
        for exercise in all_exercises:
            if exercises.setdefault(exercise.name, exercise) is not exercise:
                exercise.cell.refuse(f"there are two exercises {exercise.name!r}")
        read_answers(files.sources / "answers.py", exercises)
    return LessonSources(files, lesson, deeper, predictions, exercise_cells, exercises)


def _refuse_shared_ids(cells: list[SourceCell], predictions: Mapping[str, Prediction]) -> None:
    """Refuse a prediction whose id another cell has: progress, website and Review know no more."""
    counts = Counter(cell.id for cell in cells)
    for cell in cells:
        if cell.id in predictions and counts[cell.id] > 1:
            why = "is the id of a prediction in another notebook of this lesson: rename the section"
            cell.refuse(f"{cell.id!r} {why}")
