"""Render sources as notebooks with slide types, not yet executed."""

import math
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from pytree_course import nbgrader
from pytree_course.built import (
    METADATA_KEY,
    OUTPUTS,
    SOURCES,
    answer_id,
    check_id,
    hide_outputs,
    other_answer_id,
    our_version_id,
    outputs_digest,
)
from pytree_course.course import GOING_DEEPER, Course
from pytree_course.rendering import render
from pytree_course.sources.exercises import EXERCISE_OPTIONS, WRITE, Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources, Section
from pytree_course.sources.predictions import PREDICTION, with_closed_answer
from pytree_course.sources.source_cells import SourceCell
from pytree_course.texts import counted, text_digest

CHECK_OUTPUT, IGNORE_OUTPUT = "nbval-check-output", "nbval-ignore-output"
AUTHORS_OPTIONS = {
    *("exercise", *EXERCISE_OPTIONS, "answers", "question", "silent_bug", "core", "needs"),
    *("prediction", "waits", "id"),
}
"""Options of source cells that notebooks' metadata leave out."""
OTHER_WAYS = "Other right ways:"
OURS_HEADING = "# Our version, which the cells below use. Click to open it."
"""JupyterLab shows only this first line of a folded cell."""

LISTED = re.compile(r"^- \[[^]]+\]\(deeper/\w+/([\w-]+)\.ipynb\)$", re.MULTILINE)
"""An item of the list of deeper sections at the end of a lesson."""

INSTALLED_ID = "installed"
"""The first code cell of every notebook, which asks whether the course is installed."""

SLIDE_LINES = 20  # what fits on a slide, in lines of code
MARKDOWN_LINE = 75  # characters in a line of text on a slide
OUTPUT_LINES = {"print": 2, "draw": 8, "figure": 8, "pair": 12, "explore": 14, "count_traces": 16}
"""The approximate height of a call's output, in lines."""


def render_notebooks(sources: LessonSources) -> dict[Path, NotebookNode]:
    """Return a lesson's notebooks without outputs: the core, and each deeper section."""
    notebooks = {sources.files.notebook: _render_core(sources)}
    for section in sources.layers.deeper:
        notebooks[sources.files.deeper(section.slug)] = _render_deeper(sources, section)
    return notebooks


def _render_core(sources: LessonSources) -> NotebookNode:
    """Return the core's notebook: the opening has its minutes, the list of sections theirs."""
    layers = sources.layers
    reading, everything = str(layers.core_minutes), str(layers.core_with_everything)
    sections = {section.slug: section for section in layers.deeper}

    def described(link: re.Match[str]) -> str:
        section = sections.get(link[1])
        return f"{link[0]}: {_about(section)}" if section else link[0]

    texts = {cell.id: LISTED.sub(described, cell.source) for cell in layers.ending}
    for cell in layers.opening:
        text = cell.source.replace("{reading}", reading)
        texts[cell.id] = text.replace("{with everything}", everything)
    return _render_lesson(sources, sources.lesson, texts)


def _render_deeper(sources: LessonSources, section: Section) -> NotebookNode:
    """Return a deeper section's notebook: it says whom it is for, and leads to its exercises."""
    files = sources.files
    link = partial(Course(files.root).link, start=files.deeper_notebooks)
    top = render(
        "authoring/deeper_top.md",
        about=_about(section),
        title=sources.title,
        lesson=link(files.notebook),
    )
    end = render(
        "authoring/deeper_end.md",
        exercises=[
            (exercise, link(files.exercises, exercise.title))
            for exercise in sources.graded.values()
            if exercise.section == section.slug
        ],
        title=sources.title,
        back=link(files.notebook, GOING_DEEPER),
    )
    first = section.cells[0]
    heading, _, rest = first.source.partition("\n")
    texts = {first.id: f"{heading}\n\n{top}\n{rest}"}
    return _render_lesson(sources, section.cells, texts, [new_markdown_cell(end, id="end")])


def _about(section: Section) -> str:
    """Say how long a deeper section takes, and who needs it."""
    minutes = counted(section.with_everything, "minute", "minutes")
    return f"about {minutes}. For you if {section.for_whom}."


def _render_lesson(
    sources: LessonSources,
    source_cells: Sequence[SourceCell],
    texts: Mapping[str, str],
    ending: Sequence[NotebookNode] = (),
) -> NotebookNode:
    """Return a notebook of source cells; `texts` replaces the text of cells, by id."""
    cells: list[NotebookNode] = []
    for cell in source_cells:
        if cell.kind == "markdown":
            text = texts.get(cell.id, cell.source)
            if cells and cells[-1].id in sources.predictions and not cell.heading:
                text = with_closed_answer(text)
            cells.append(new_markdown_cell(text, id=cell.id))
        elif cell.is_exercise:
            exercise = sources.exercises[cell.metadata["exercise"]]
            cells[-1].source += f"\n\n{render('authoring/practice.md', exercise=exercise)}"
            cells += _practice(exercise)
        elif cell.id in sources.predictions:
            cells += _predicted(sources.files.stem, cell)
        else:
            code = _code(cell.id, cell.source, cell)
            if "waits" in cell.metadata:
                hide_outputs(code)
            cells.append(code)
    slides = slide_types(source_cells)
    for built in cells:
        if built.id in slides:
            built.metadata["slideshow"] = {"slide_type": slides[built.id]}
    digest = text_digest(source_cells[0].file.read_text(encoding="utf-8"))
    return _notebook(_with_installed([*cells, *ending]), digest)


def _predicted(lesson: str, cell: SourceCell) -> list[NotebookNode]:
    """Return the cells of a prediction: the question, folded, and the code that answers it."""
    question = _code(f"{cell.id}-predict", f'predict("{lesson}", "{cell.id}")')
    question.metadata["jupyter"] = {"source_hidden": True}
    code = _code(cell.id, cell.source, cell)
    hide_outputs(code)  # also those of a later execution
    return [question, code]


def _practice(exercise: Exercise) -> list[NotebookNode]:
    """Return the cells of practice in a lesson: answer, check, and our version, folded."""
    answer = _code(answer_id(exercise.name), exercise.starter.source, exercise.cell)
    check = _code(check_id(exercise.name), exercise.call)
    check.metadata["tags"] = [IGNORE_OUTPUT]  # its output depends on the learner's progress
    ours = _code(our_version_id(exercise.name), f"{OURS_HEADING}\n{exercise.solution.source}")
    ours.metadata["jupyter"] = {"source_hidden": True}
    return [answer, check, ours]


def render_exercises(sources: LessonSources, *, solved: bool = False) -> NotebookNode:
    """Return the blank exercise notebook, or the one with right answers, without outputs."""
    by_title = {exercise.title: exercise for exercise in sources.exercises.values()}
    cells = []
    for cell in sources.exercise_cells:
        if cell.kind == "markdown":
            exercise = by_title.get(cell.heading or "")
            text = _with_facts(cell.source, exercise, sources) if exercise else cell.source
            cells.append(new_markdown_cell(text, id=cell.id))
        elif cell.is_exercise:
            cells += _exercise(sources.exercises[cell.metadata["exercise"]], solved=solved)
        else:
            cells.append(_code(cell.id, cell.source, cell, nbgrader.marks(cell.id)))
    cells = _with_installed(cells, nbgrader.marks(INSTALLED_ID))
    return _notebook(cells, sources.files.exercises_digest())


def _exercise(exercise: Exercise, *, solved: bool) -> list[NotebookNode]:
    """Return the cells of an exercise: answer, check and, with right answers, other ways."""
    answer_marks = nbgrader.marks(answer_id(exercise.name), is_answer=True)
    check_marks = nbgrader.marks(check_id(exercise.name), points=exercise.points)
    source = exercise.solution.source if solved else exercise.starter.source
    cells = [
        _code(answer_id(exercise.name), source, exercise.cell, answer_marks),
        _code(check_id(exercise.name), exercise.call, marks=check_marks),
    ]
    return cells + _other_ways(exercise) if solved else cells


def _other_ways(exercise: Exercise) -> list[NotebookNode]:
    """Return cells with the two variants that are least similar to the solution."""

    def similarity(variant: Answer) -> float:
        return SequenceMatcher(None, exercise.solution.source, variant.source).ratio()

    cells = [new_markdown_cell(OTHER_WAYS, id=f"{exercise.name}-others")]
    for number, variant in enumerate(sorted(exercise.variants, key=similarity)[:2], 1):
        text = f"```python\n{variant.source.strip()}\n```"
        cells.append(new_markdown_cell(text, id=other_answer_id(exercise.name, number)))
    return cells


def _with_installed(
    cells: list[NotebookNode], marks: dict[str, Any] | None = None
) -> list[NotebookNode]:
    """Insert the cell that asks whether the course is installed before all other code."""
    cell = _code(INSTALLED_ID, render("authoring/installed.txt"), marks=marks)
    cell.metadata |= {"jupyter": {"source_hidden": True}, "slideshow": {"slide_type": "skip"}}
    first = next((at for at, cell in enumerate(cells) if cell.cell_type == "code"), len(cells))
    return [*cells[:first], cell, *cells[first:]]


def _with_facts(text: str, exercise: Exercise, sources: LessonSources) -> str:
    """Insert an exercise's difficulty, points, minutes and section below its heading."""
    stars = "★" * exercise.stars + "☆" * (3 - exercise.stars)
    points = counted(exercise.points, "point", "points")
    files, section = sources.files, sources.sections[exercise.section]
    place = section.link_target(files, exercise.section)
    link = f"[{section.title}]({Course(files.root).link(*place, start=files.exercises.parent)})"
    core = " · core" if exercise.core else ""
    facts = f"{stars}{core} · {points} · about {exercise.minutes} minutes · reread: {link}"
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{facts}\n{rest}"


def _code(
    cell_id: str, code: str, cell: SourceCell | None = None, marks: dict[str, Any] | None = None
) -> NotebookNode:
    """Return a code cell with the metadata that its source cell gives, and nbgrader's marks."""
    options = cell.metadata if cell else {}
    tags = [str(tag) for tag in options.get("tags", [])]
    if IGNORE_OUTPUT not in tags:
        tags.append(CHECK_OUTPUT)
    metadata = {key: value for key, value in options.items() if key not in AUTHORS_OPTIONS}
    metadata.update(marks or {})
    metadata["tags"] = tags
    return new_code_cell(code, id=cell_id, metadata=metadata)


def _notebook(cells: list[NotebookNode], digest: str) -> NotebookNode:
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {
        "kernelspec": kernel,
        "language_info": {"name": "python"},
        METADATA_KEY: {SOURCES: digest},
    }
    notebook = new_notebook(cells=cells, metadata=metadata)
    notebook.metadata[METADATA_KEY][OUTPUTS] = outputs_digest(notebook)
    return notebook


def slide_types(cells: Sequence[SourceCell]) -> dict[str, str]:
    """Return the slide types of a lesson's cells by cell id; other cells continue a slide.

    A section starts a slide. A prediction starts a subslide, and its answer is a fragment, so that
    nothing gives the answer away. A slide that would get too tall continues on a subslide.
    """
    types = {}
    filled = 0.0
    for cell in cells:
        lines = _lines(cell)
        if cell.heading:
            types[cell.id], filled = "slide", 0.0
        elif cell.source.startswith((PREDICTION, WRITE)):
            types[cell.id], filled = "subslide", 0.0
        elif "prediction" in cell.metadata:
            types[cell.id] = "fragment"
        elif cell.is_exercise:
            types[check_id(cell.metadata["exercise"])] = "skip"
            types[our_version_id(cell.metadata["exercise"])] = "fragment"
        elif filled + lines > SLIDE_LINES:
            types[cell.id], filled = "subslide", 0.0
        filled += lines
    return types


def _lines(cell: SourceCell) -> float:
    """Estimate the height of a cell with its output."""
    if cell.kind == "markdown":
        return sum(0.5 + math.ceil(len(line) / MARKDOWN_LINE) for line in cell.source.splitlines())
    output = sum(lines for name, lines in OUTPUT_LINES.items() if f"{name}(" in cell.source)
    return len(cell.source.splitlines()) + 1 + output
