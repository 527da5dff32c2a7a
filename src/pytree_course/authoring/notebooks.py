"""Render sources as notebooks with slide types, not yet executed."""

import math
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import zip_longest
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

SLIDE_LINES = 20  # what fits on a slide, in lines of code
MARKDOWN_LINE = 75  # characters
OUTPUT_LINES = {"print": 2, "draw": 8, "figure": 8, "pair": 12}
OUTPUT_LINES |= {"explore": 14, "count_traces": 16}
"""The approximate height of a call's output, in lines."""


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


CHECK_OUTPUT, IGNORE_OUTPUT = "nbval-check-output", "nbval-ignore-output"
AUTHORS_OPTIONS = {
    *(*EXERCISE_OPTIONS, "exercise", "answers", "question", "silent_bug", "core"),
    *("prediction", "waits", "id", "needs"),
}
"""Options of source cells that notebooks' metadata leave out."""
OTHER_WAYS = "Other right ways:"
OURS_HEADING = "# Our version, which the cells below use. Click to open it."
"""JupyterLab shows only this first line of a folded cell."""

LISTED = re.compile(r"^- \[[^]]+\]\(deeper/\w+/([\w-]+)\.ipynb\)$", re.MULTILINE)
"""An item of the list of deeper sections at the end of a lesson."""

INSTALLED_ID = "installed"
"""The first code cell of every notebook, which asks whether the course is installed."""


def render_notebooks(sources: LessonSources) -> dict[Path, NotebookNode]:
    """Return a lesson's notebooks without outputs: the core, and each deeper section."""
    files, layers = sources.files, sources.layers
    reading, everything = str(layers.core_minutes), str(layers.core_with_everything)
    texts = {
        cell.id: cell.source.replace("{reading}", reading).replace("{with everything}", everything)
        for cell in layers.opening
    }
    sections = {section.slug: section for section in layers.deeper}

    def described(link: re.Match[str]) -> str:
        return f"{link[0]}: {about(sections[link[1]])}" if link[1] in sections else link[0]

    texts |= {cell.id: LISTED.sub(described, cell.source) for cell in layers.ending}
    notebooks = {files.notebook: _render(sources, sources.lesson, texts)}
    course = Course(files.root)
    for section in layers.deeper:
        file = files.deeper(section.slug)
        link = partial(course.link, start=file.parent)
        values = {
            "section": section,
            "title": sources.title,
            "about": about(section),
            "lesson": link(files.notebook),
            "back": link(files.notebook, GOING_DEEPER),
            "exercises": [
                (exercise, link(files.exercises, exercise.title))
                for exercise in sources.graded.values()
                if exercise.section == section.slug
            ],
        }
        top, back = (render(f"authoring/deeper_{end}.md", **values) for end in ("top", "end"))
        first = section.cells[0]
        heading, _, rest = first.source.partition("\n")
        texts = {first.id: f"{heading}\n\n{top}\n{rest}"}
        notebooks[file] = _render(
            sources, section.cells, texts, [new_markdown_cell(back, id="end")]
        )
    return notebooks


def _render(
    sources: LessonSources,
    source_cells: Sequence[SourceCell],
    texts: Mapping[str, str],
    ending: Sequence[NotebookNode] = (),
) -> NotebookNode:
    """Return a notebook of source cells; `texts` replaces the text of cells, by id."""
    slides = slide_types(source_cells)
    cells: list[NotebookNode] = []
    for cell, following in zip_longest(source_cells, source_cells[1:]):
        if cell.kind == "markdown":
            text = texts.get(cell.id, cell.source)
            if cells and cells[-1].id in sources.predictions and not cell.heading:
                text = with_closed_answer(text)
            if following and following.is_exercise:
                exercise = sources.exercises[following.metadata["exercise"]]
                text = f"{text}\n\n{render('authoring/practice.md', exercise=exercise)}"
            cells.append(new_markdown_cell(text, id=cell.id))
        elif cell.is_exercise:
            cells += _practice(sources.exercises[cell.metadata["exercise"]])
        else:
            code = _code(cell.id, cell.source, cell)
            if cell.id in sources.predictions:
                call = f'predict("{sources.files.stem}", "{cell.id}")'
                question = _code(f"{cell.id}-predict", call)
                question.metadata["jupyter"] = {"source_hidden": True}
                cells.append(question)
            if cell.id in sources.predictions or "waits" in cell.metadata:
                hide_outputs(code)  # also those of a later execution
            cells.append(code)
    for built in cells:
        if built.id in slides:
            built.metadata["slideshow"] = {"slide_type": slides[built.id]}
    digest = text_digest(source_cells[0].file.read_text(encoding="utf-8"))
    return _notebook(_with_installed([*cells, *ending]), digest)


def about(section: Section) -> str:
    """Say how long a deeper section takes, and who needs it."""
    minutes = counted(section.with_everything, "minute", "minutes")
    return f"about {minutes}. For you if {section.for_whom}."


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
    by_heading = {exercise.title: exercise for exercise in sources.exercises.values()}
    cells = []
    for cell in sources.exercise_cells:
        if cell.kind == "markdown":
            exercise = by_heading.get(cell.heading or "")
            text = _with_facts(cell.source, exercise, sources) if exercise else cell.source
            cells.append(new_markdown_cell(text, id=cell.id))
        elif "exercise" in cell.metadata:
            exercise = sources.exercises[cell.metadata["exercise"]]
            content = exercise.solution if solved else exercise.starter
            answer, check = answer_id(exercise.name), check_id(exercise.name)
            marks = nbgrader.marks(answer, is_answer=True)
            cells.append(_code(answer, content.source, cell, marks))
            marks = nbgrader.marks(check, points=exercise.points)
            cells.append(_code(check, exercise.call, marks=marks))
            if solved:
                cells += _other_ways(exercise)
        else:
            cells.append(_code(cell.id, cell.source, cell, nbgrader.marks(cell.id)))
    return _notebook(_with_installed(cells, nbgrader.marks(INSTALLED_ID)), sources.exercises_digest)


def _other_ways(exercise: Exercise) -> list[NotebookNode]:
    """Return cells with the two variants that are least similar to the solution."""

    def likeness(variant: Answer) -> float:
        return SequenceMatcher(None, exercise.solution.source, variant.source).ratio()

    two = sorted(exercise.variants, key=likeness)[:2]
    fenced = [f"```python\n{variant.source.strip()}\n```" for variant in two]
    ids = [
        f"{exercise.name}-others",
        other_answer_id(exercise.name, 1),
        other_answer_id(exercise.name, 2),
    ]
    return [
        new_markdown_cell(text, id=cell_id)
        for cell_id, text in zip(ids, [OTHER_WAYS, *fenced], strict=True)
    ]


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
    place = files.place(exercise.section, section.title, deeper=section.deeper)
    link = f"[{section.title}]({Course(files.root).link(*place, start=files.exercises.parent)})"
    core = " · core" if exercise.core else ""
    facts = f"{stars}{core} · {points} · about {exercise.minutes} minutes · reread: {link}"
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{facts}\n{rest}"


def _code(
    cell_id: str, code: str, cell: SourceCell | None = None, marks: dict[str, Any] | None = None
) -> NotebookNode:
    metadata = dict(cell.metadata) if cell else {}
    tags = [str(tag) for tag in metadata.pop("tags", [])]
    if IGNORE_OUTPUT not in tags:
        tags.append(CHECK_OUTPUT)
    kept = {key: value for key, value in metadata.items() if key not in AUTHORS_OPTIONS}
    return new_code_cell(code, id=cell_id, metadata={**kept, **(marks or {}), "tags": tags})


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
