"""Read the exercises of exercises.md and of a lesson, and their answers in answers.py."""

import ast
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from pytree_course.judging.expected import ExerciseFacts
from pytree_course.public_reports import split_reports
from pytree_course.sources.changes import ChangeError, apply_change, split_cells, split_explanation
from pytree_course.sources.source_cells import Mistake, SourceCell, read_source, slug

SOLUTION_REGION = re.compile(
    r"^(?P<indent>[ \t]*)# BEGIN SOLUTION\n(?P<solution>.*?)^[ \t]*# END SOLUTION[ \t]*\n?",
    re.MULTILINE | re.DOTALL,
)
WRITE = "✎"
"""Start of the prompt of an exercise in a lesson; the code cell after it is the exercise."""
MAX_STEPS = 2
"""A reader of answers.py looks up an answer that a change names, and at most one more."""
PLACEHOLDER = "raise NotImplementedError  # your answer goes here, in place of this line"
SETUP_ID = "setup"


@dataclass(frozen=True)
class Answer:
    """Code that stands in an answer cell: a solution, a variant, a misconception or a starter."""

    name: str
    source: str
    cell: SourceCell
    explanation: str = ""
    section: str = ""
    met: list[str] = field(default_factory=list)  # public reports of people who gave it
    steps: int = 0  # how many changes lead to it from an answer that is written out


@dataclass(frozen=True)
class Exercise(ExerciseFacts):
    """One exercise as the author wrote it; `read_answers` adds to its answers."""

    cell: SourceCell  # the answer cell
    setup: str  # the code that runs before an answer
    met: list[str]  # public reports of people who would have needed it
    authors_starters: list[Answer] = field(default_factory=list)
    variants: list[Answer] = field(default_factory=list)
    misconceptions: list[Answer] = field(default_factory=list)

    @property
    def all_answers(self) -> list[Answer]:
        """The solution, the starter, the variants and the misconceptions."""
        return [self.solution, self.starter, *self.variants, *self.misconceptions]

    @property
    def is_prediction(self) -> bool:
        """Whether it asks for a value for each line: its cases do not depend on the seed."""
        return not re.search(rf"^(def|class) {self.answers[0]}\b", self.cell.source, re.MULTILINE)

    @property
    def solution(self) -> Answer:
        """The right answer, without the marks of its region."""
        return Answer("solution", _without_marks(self.cell.source), self.cell)

    @property
    def starter(self) -> Answer:
        """The code in the learner's answer cell: the author's, or a placeholder for the region."""
        if self.authors_starters:
            return self.authors_starters[-1]
        source = SOLUTION_REGION.sub(rf"\g<indent>{PLACEHOLDER}\n", self.cell.source)
        return Answer("starter", source.rstrip("\n"), self.cell)

    def mistake(self, message: str, at: Answer | None = None) -> Mistake:
        """Return a mistake that the author made in this exercise, or in an answer to it."""
        return (at or self).cell.mistake(f"{self.name}: {message}")


class Options(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The options of every exercise; their names are those of the facts of an exercise."""

    name: str = msgspec.field(name="exercise")
    minutes: int
    stars: int
    hints: list[str]
    answers: list[str] = []
    silent_bug: bool = False
    question: str = ""
    met: list[str] = []

    def __post_init__(self) -> None:
        self.hints = [hint.strip() for hint in self.hints]
        self.question = self.question.strip()
        self.answers = self.answers or [self.name]


class PracticeOptions(Options, kw_only=True):
    """The options of an exercise in a lesson."""

    needs: list[str] = []  # the ids of code cells above


class ExerciseOptions(Options, kw_only=True):
    """The options of an exercise in exercises.md."""

    points: int
    section: str
    core: bool = False


def _read_options(cell: SourceCell, kind: type[Options]) -> dict[str, Any]:
    try:
        return msgspec.structs.asdict(msgspec.convert(cell.metadata, kind))
    except msgspec.ValidationError as error:
        cell.refuse(f"{cell.metadata['exercise']}: {error}")


def read_practice(cells: list[SourceCell], *, core: bool) -> list[Exercise]:
    """Read the exercises of a lesson or a deeper section."""
    exercises = []
    section, text_above = "", ""
    code_above: dict[str, SourceCell] = {}  # by id
    for cell in cells:
        section = cell.heading or section
        if cell.is_exercise:
            if not text_above.startswith(WRITE):
                cell.refuse(f"it is an exercise, but the cell above does not start with {WRITE}")
            options = _read_options(cell, PracticeOptions)
            setup = _read_setup(cell, options.pop("needs"), code_above)
            title = f"Write {', '.join(options['answers'])}"
            options |= {"section": slug(section), "core": core, "points": 0}
            exercises.append(Exercise(**options, title=title, cell=cell, setup=setup))
        if cell.kind == "code":
            code_above[cell.id] = cell
        text_above = cell.source
    return exercises


def _read_setup(cell: SourceCell, needs: list[str], code_above: dict[str, SourceCell]) -> str:
    """Return the code that an exercise in a lesson needs: the imports, and the cells it names."""
    chosen = [*code_above.values()][:1]  # the imports
    for cell_id in needs:
        if cell_id not in code_above:
            cell.refuse(f"needs: no code cell above has the id {cell_id!r}")
        chosen.append(code_above[cell_id])
    return "\n".join(_without_marks(needed.source) for needed in chosen)


def read_exercises(cells: list[SourceCell]) -> list[Exercise]:
    """Read the exercises of exercises.md."""
    setup = next((cell for cell in cells if cell.id == SETUP_ID), None)
    if setup is None:
        cells[0].refuse(f"no code cell has `:id: {SETUP_ID}`: add the set-up cell")
    exercises = []
    title = ""
    for cell in cells:
        title = cell.heading or title
        if cell.is_exercise:
            options = _read_options(cell, ExerciseOptions)
            exercises.append(Exercise(**options, title=title, cell=cell, setup=setup.source))
    return exercises


def _without_marks(source: str) -> str:
    return SOLUTION_REGION.sub(r"\g<solution>", source).rstrip("\n")


def read_answers(file: Path, exercises: dict[str, Exercise]) -> None:
    """Read answers.py: the variants, misconceptions and starters of the exercises."""
    in_order = [*exercises]
    reached = 0  # the number of the exercise
    for line, options, source in split_cells(read_source(file)):
        cell = SourceCell("code", source, options, file, line)
        name = options.get("exercise")
        if name is None:
            cell.refuse('begin the cell with # %% exercise="...", with quotes')
        if name not in exercises:
            cell.refuse(f"there is no exercise {name!r}")
        if in_order.index(name) < reached:
            later = in_order[reached]
            cell.refuse(f"it belongs further up: {later!r} is a later exercise than {name!r}")
        reached = in_order.index(name)
        _read_answer(cell, exercises[name])


def _read_answer(cell: SourceCell, exercise: Exercise) -> None:
    options = cell.metadata
    explanation, below = split_explanation(cell.source)
    first_line = cell.line + 1 + cell.source.count("\n") - below.count("\n")
    try:
        code, steps = _whole_code(below, options.get("changes"), exercise)
        ast.parse(code)
    except ChangeError as error:
        replace(cell, line=first_line + error.line).refuse(f"{exercise.name}: {error}")
    except SyntaxError as error:
        # The lines of a change are not those of the whole code.
        line = first_line if "changes" in options else first_line + (error.lineno or 1) - 1
        replace(cell, line=line).refuse(f"{exercise.name}: SyntaxError: {error.msg}")
    if "starter" in options:
        exercise.authors_starters.append(Answer("starter", code, cell, steps=steps))
    elif "variant" in options:
        exercise.variants.append(Answer(options["variant"], code, cell, steps=steps))
    elif "misconception" in options:
        name, section = options["misconception"], options.get("section", exercise.section)
        if not explanation:
            cell.refuse(f"the misconception {name!r} needs an explanation: a text in triple quotes")
        met = split_reports(options["met"]) if "met" in options else []
        wrong = Answer(name, code, cell, explanation, section, met, steps)
        exercise.misconceptions.append(wrong)
    else:
        cell.refuse('say variant="...", misconception="..." or starter=True after the exercise')


def _whole_code(text: str, base: str | None, exercise: Exercise) -> tuple[str, int]:
    """Return an answer's whole code, and how many changes lead to it.

    It may be written as a change of the answer `base`.
    """
    if base is None:
        return text, 0
    answers = {answer.name: answer for answer in exercise.all_answers}
    if base not in answers:
        raise ChangeError(0, f"no answer above is called {base!r}: {', '.join(answers)} are")
    if answers[base].steps >= MAX_STEPS:
        why = f"{base!r} is a change of a change: write this one as a change of another answer"
        raise ChangeError(0, why)
    return apply_change(answers[base].source, text), answers[base].steps + 1
