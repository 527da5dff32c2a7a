"""Read the exercises of exercises.md and of a lesson, and their answers in answers.py."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from pytree_course.judging.expected import ExerciseFacts
from pytree_course.public_reports import split_reports
from pytree_course.sources.changes import ChangeError, apply_change, split_cells, split_explanation
from pytree_course.sources.source_cells import Mistake, SourceCell, slug

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
EXERCISE_OPTIONS = {"points": int, "minutes": int, "stars": int, "section": str, "hints": list}
PRACTICE_OPTIONS = {"minutes": int, "stars": int, "hints": list}
"""The required options of an exercise, in exercises.md and in a lesson, and their types."""


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


def read_practice(
    cells: list[SourceCell], mistakes: list[Mistake], *, core: bool
) -> list[Exercise]:
    """Read the exercises of a lesson or a deeper section."""
    exercises = []
    section, text_above = "", ""
    code_above: dict[str, SourceCell] = {}  # by id
    for cell in cells:
        section = cell.heading or section
        if cell.is_exercise:
            setup = _read_setup(cell, code_above, mistakes)
            if not text_above.startswith(WRITE):
                why = f"it is an exercise, but the cell above does not start with {WRITE}"
                mistakes.append(cell.mistake(why))
            mistakes += [
                cell.mistake(f"`{option}` is for exercises in exercises.md")
                for option in ("points", "core", "section")
                if option in cell.metadata
            ]
            if _has_good_options(cell, PRACTICE_OPTIONS, mistakes):
                exercise = _make_exercise(
                    cell,
                    title=f"Write {', '.join(_answers(cell))}",
                    points=0,
                    section=slug(section),
                    core=core,
                    setup=setup,
                )
                exercises.append(exercise)
        if cell.kind == "code":
            code_above[cell.id] = cell
        text_above = cell.source
    return exercises


def _read_setup(
    cell: SourceCell, code_above: dict[str, SourceCell], mistakes: list[Mistake]
) -> str:
    """Return the code that an exercise in a lesson needs: the imports, and the cells it names."""
    chosen = [*code_above.values()][:1]  # the imports
    for cell_id in map(str, cell.metadata.get("needs", [])):
        if cell_id not in code_above:
            mistakes.append(cell.mistake(f"needs: no code cell above has the id {cell_id!r}"))
        elif code_above[cell_id] not in chosen:
            chosen.append(code_above[cell_id])
    return "\n".join(_without_marks(needed.source) for needed in chosen)


def read_exercises(cells: list[SourceCell], mistakes: list[Mistake]) -> list[Exercise]:
    """Read the exercises of exercises.md."""
    exercises: list[Exercise] = []
    title = ""
    setup = next((cell for cell in cells if cell.id == SETUP_ID), None)
    if setup is None:
        message = f"no code cell has `:id: {SETUP_ID}`: add the set-up cell"
        mistakes += [Mistake(cell.file, 1, message) for cell in cells[:1]]
        return exercises
    for cell in cells:
        title = cell.heading or title
        if cell.is_exercise and _has_good_options(cell, EXERCISE_OPTIONS, mistakes):
            exercise = _make_exercise(
                cell,
                title=title,
                points=cell.metadata["points"],
                section=cell.metadata["section"],
                core=bool(cell.metadata.get("core", False)),
                setup=setup.source,
            )
            exercises.append(exercise)
    return exercises


def _has_good_options(cell: SourceCell, required: dict[str, type], mistakes: list[Mistake]) -> bool:
    """Return whether an exercise can be read from its cell; if not, add to the mistakes."""
    name = str(cell.metadata["exercise"])
    faults = [
        f"`{option}` should be a {kind.__name__}"
        for option, kind in required.items()
        if not isinstance(cell.metadata.get(option), kind)
    ]
    if not name.isidentifier():
        faults.append(f"the name {name!r} is not a Python name")
    mistakes += [cell.mistake(f"{name}: {fault}") for fault in faults]
    return not faults


def _answers(cell: SourceCell) -> list[str]:
    """Return the names that an answer has to define."""
    return [str(name) for name in cell.metadata.get("answers", [cell.metadata["exercise"]])]


def _make_exercise(
    cell: SourceCell, *, title: str, points: int, section: str, core: bool, setup: str
) -> Exercise:
    """Make an exercise from its cell's options and from facts that its place determines."""
    options = cell.metadata
    return Exercise(
        name=str(options["exercise"]),
        title=title,
        answers=_answers(cell),
        points=points,
        minutes=options["minutes"],
        stars=options["stars"],
        section=section,
        hints=[str(hint).strip() for hint in options["hints"]],
        silent_bug=bool(options.get("silent_bug", False)),
        core=core,
        question=str(options.get("question", "")).strip(),
        cell=cell,
        setup=setup,
        met=[str(report) for report in options.get("met", [])],
    )


def _without_marks(source: str) -> str:
    """Return a cell's code without the marks around a solution."""
    return SOLUTION_REGION.sub(r"\g<solution>", source).rstrip("\n")


def read_answers(file: Path, exercises: dict[str, Exercise], mistakes: list[Mistake]) -> None:
    """Read answers.py: the variants, misconceptions and starters of the exercises."""
    if not file.exists():
        mistakes.append(Mistake(file, 1, "this file is missing"))
        return
    in_order = [*exercises]
    reached = 0  # the number of the exercise
    for line, options, source in split_cells(file.read_text(encoding="utf-8")):
        cell = SourceCell("code", source, options, file, line)
        name = options.get("exercise")
        if name is None:
            mistakes.append(cell.mistake('begin the cell with # %% exercise="...", with quotes'))
        elif name not in exercises:
            mistakes.append(cell.mistake(f"there is no exercise {name!r}"))
        elif in_order.index(name) < reached:
            why = f"it belongs further up: {in_order[reached]!r} is a later exercise than {name!r}"
            mistakes.append(cell.mistake(why))
        else:
            reached = in_order.index(name)
            mistakes += _read_answer(cell, exercises[name])


def _read_answer(cell: SourceCell, exercise: Exercise) -> list[Mistake]:
    """Add the answer in a cell to its exercise; return the author's mistakes in it."""
    options = cell.metadata
    explanation, below = split_explanation(cell.source)
    first_line = cell.line + 1 + cell.source.count("\n") - below.count("\n")
    try:
        code, steps = _whole_code(below, options.get("changes"), exercise)
        ast.parse(code)
    except ChangeError as error:
        return [Mistake(cell.file, first_line + error.line, f"{exercise.name}: {error}")]
    except SyntaxError as error:
        # The lines of a change are not those of the whole code.
        line = first_line if "changes" in options else first_line + (error.lineno or 1) - 1
        return [Mistake(cell.file, line, f"{exercise.name}: SyntaxError: {error.msg}")]
    if "starter" in options:
        exercise.authors_starters.append(Answer("starter", code, cell, steps=steps))
    elif "variant" in options:
        exercise.variants.append(Answer(options["variant"], code, cell, steps=steps))
    elif "misconception" in options:
        name, section = options["misconception"], options.get("section", exercise.section)
        met = split_reports(options["met"]) if "met" in options else []
        wrong = Answer(name, code, cell, explanation, section, met, steps)
        exercise.misconceptions.append(wrong)
        if not explanation:
            why = f"the misconception {name!r} needs an explanation: a text in triple quotes"
            return [cell.mistake(why)]
    else:
        why = 'say variant="...", misconception="..." or starter=True after the exercise'
        return [cell.mistake(why)]
    return []


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
