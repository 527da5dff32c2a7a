"""Render sources as notebooks with slide types, not yet executed."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from pytree_course import built, nbgrader
from pytree_course.built import answer_id, check_id, our_version_id
from pytree_course.course import GOING_DEEPER, Course
from pytree_course.public_reports import people_met, with_links
from pytree_course.rendering import render
from pytree_course.sources.exercises import WRITE, Answer, Exercise
from pytree_course.sources.lesson_sources import HIDE_INPUT, LessonSources, Section
from pytree_course.sources.predictions import PREDICTION, with_closed_answer
from pytree_course.sources.source_cells import SourceCell
from pytree_course.texts import counted, text_digest

CHECK_OUTPUT, IGNORE_OUTPUT = "nbval-check-output", "nbval-ignore-output"
OTHER_WAYS = "Other right ways:"
OURS_HEADING = "# Our version, which the cells below use. Click to open it."
"""The first line of a folded cell, the only one that JupyterLab shows."""

LISTED_SECTION = re.compile(r"^- \[[^]]+\]\(deeper/\w+/([\w-]+)\.ipynb\)$", re.MULTILINE)
"""An item of the list of deeper sections at the end of a lesson."""

INSTALLED_ID = "installed"
"""The first code cell of every notebook, which asks whether the course is installed."""

TALL_SCREEN = 950  # pixels of a notebook at 1920 × 1080
MAX_SLIDE_LINES = 20  # of code
MAX_LINE_CHARACTERS = 75  # of text on a slide
OUTPUT_LINES = {"print": 2, "draw": 8, "figure": 8, "pair": 12, "explore": 14, "count_traces": 16}
"""The approximate height of a call's output, in lines."""


def render_notebooks(sources: LessonSources) -> dict[Path, NotebookNode]:
    """Return a lesson's notebooks without outputs: the core, and each deeper section."""
    notebooks = {sources.files.notebook: _render_core(sources)}
    for section in sources.layers.deeper:
        notebooks[sources.files.deeper(section.slug)] = _render_deeper(sources, section)
    return notebooks


def _render_core(sources: LessonSources) -> NotebookNode:
    layers = sources.layers
    reading, everything = str(layers.core_minutes), str(layers.core_with_everything)
    sections = {section.slug: section for section in layers.deeper}

    def with_description(link: re.Match[str]) -> str:
        section = sections.get(link[1])
        return f"{link[0]}: {_about(section)}" if section else link[0]

    texts = {cell.id: LISTED_SECTION.sub(with_description, cell.source) for cell in layers.ending}
    for cell in layers.opening:
        text = cell.source.replace("{reading}", reading)
        texts[cell.id] = text.replace("{with everything}", everything)
    return _render_lesson(sources, sources.lesson, texts)


def _render_deeper(sources: LessonSources, section: Section) -> NotebookNode:
    """Return a deeper section's notebook, with its readers at the top and its exercises below."""
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
    minutes = counted(section.all_minutes, "minute", "minutes")
    return f"about {minutes}. For you if {section.for_whom}."


def _render_lesson(
    sources: LessonSources,
    source_cells: Sequence[SourceCell],
    texts: Mapping[str, str],
    ending: Sequence[NotebookNode] = (),
) -> NotebookNode:
    """Return a notebook of source cells; `texts` replaces the text of some, by id."""
    cells: list[NotebookNode] = []
    for cell in source_cells:
        if cell.kind == "markdown":
            text = texts.get(cell.id, cell.source)
            if cells and cells[-1].id in sources.predictions and not cell.heading:
                text = with_closed_answer(text)
            cells.append(new_markdown_cell(with_links(text), id=cell.id))
        elif cell.is_exercise:
            exercise = sources.exercises[cell.metadata["exercise"]]
            prompt = cells[-1]
            prompt.source += f"\n\n{render('authoring/practice.md', exercise=exercise)}"
            cells += _practice_cells(exercise)
        elif cell.id in sources.predictions:
            cells += _prediction_cells(sources.files.stem, cell)
        else:
            cells.append(_code_cell(cell.id, cell.source, cell))
    _hide_what_tells(cells, sources.predictions)
    slides = slide_types(source_cells)
    for built_cell in cells:
        if built_cell.id in slides:
            built_cell.metadata["slideshow"] = {"slide_type": slides[built_cell.id]}
    digest = text_digest(source_cells[0].file.read_text(encoding="utf-8"))
    return _notebook([*cells, *ending], digest)


def _hide_what_tells(cells: Sequence[NotebookNode], predictions: Collection[str]) -> None:
    """Hide stored outputs below a question, for readers whose editor makes no room there."""
    room = 0
    for cell in cells:
        if cell.id in predictions:
            room = TALL_SCREEN
        elif room > 0 and cell.cell_type == "code" and not cell.id.endswith(built.PREDICT_ENDING):
            built.hide_outputs(cell)
        room -= 16 + sum(20 * (1 + len(line) // 110) for line in _shown_source(cell).splitlines())


def _shown_source(cell: NotebookNode) -> str:
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    return "" if folded else re.sub(r"<details>.*</details>", "", cell.source, flags=re.DOTALL)


def _prediction_cells(lesson: str, cell: SourceCell) -> list[NotebookNode]:
    """Return the cells of a prediction: the question, folded, and the code that answers it."""
    question = _code_cell(f"{cell.id}{built.PREDICT_ENDING}", f'predict("{lesson}", "{cell.id}")')
    question.metadata["jupyter"] = {"source_hidden": True}
    code = _code_cell(cell.id, cell.source, cell)
    built.hide_outputs(code)  # also those of a later execution
    return [question, code]


def _practice_cells(exercise: Exercise) -> list[NotebookNode]:
    answer = _code_cell(answer_id(exercise.name), exercise.starter.source, exercise.cell)
    check = _code_cell(check_id(exercise.name), exercise.call)
    check.metadata["tags"] = [IGNORE_OUTPUT]  # its output depends on the learner's progress
    ours = _code_cell(our_version_id(exercise.name), f"{OURS_HEADING}\n{exercise.solution.source}")
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
            cells += _exercise_cells(sources.exercises[cell.metadata["exercise"]], solved=solved)
        else:
            cells.append(_code_cell(cell.id, cell.source, cell, nbgrader.marks(cell.id)))
    if not solved:
        file = sources.files.exercises.relative_to(sources.files.root).as_posix()
        heading, _, text = cells[0].source.partition("\n")
        cells[0].source = f"{heading}\n\nIn a class, hand in this file: `{file}`\n{text}"
    return _notebook(cells, sources.files.exercises_digest(), nbgrader.marks(INSTALLED_ID))


def _exercise_cells(exercise: Exercise, *, solved: bool) -> list[NotebookNode]:
    answer_marks = nbgrader.marks(answer_id(exercise.name), is_answer=True)
    check_marks = nbgrader.marks(check_id(exercise.name), points=exercise.points)
    source = exercise.solution.source if solved else exercise.starter.source
    cells = [
        _code_cell(answer_id(exercise.name), source, exercise.cell, answer_marks),
        _code_cell(check_id(exercise.name), exercise.call, marks=check_marks),
    ]
    return cells + _other_answers(exercise) if solved else cells


def _other_answers(exercise: Exercise) -> list[NotebookNode]:
    """Return cells with the two variants that are least similar to the solution."""

    def similarity(variant: Answer) -> float:
        return SequenceMatcher(None, exercise.solution.source, variant.source).ratio()

    cells = [new_markdown_cell(OTHER_WAYS, id=f"{exercise.name}-others")]
    for number, variant in enumerate(sorted(exercise.variants, key=similarity)[:2], 1):
        text = f"```python\n{variant.source.strip()}\n```"
        cells.append(new_markdown_cell(text, id=built.other_answer_id(exercise.name, number)))
    return cells


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
    met = f"<br>{people_met(exercise.met)}" if exercise.met else ""
    return f"{heading}\n\n{facts}{met}\n{rest}"


def _code_cell(
    cell_id: str,
    code: str,
    source: SourceCell | None = None,
    marks: Mapping[str, Any] | None = None,
) -> NotebookNode:
    """Return a code cell with the tags of its source cell, and nbgrader's marks."""
    tags = [str(tag) for tag in source.metadata.get("tags", [])] if source else []
    if IGNORE_OUTPUT not in tags:
        tags.append(CHECK_OUTPUT)
    cell = new_code_cell(code, id=cell_id, metadata={**(marks or {}), "tags": tags})
    if HIDE_INPUT in tags:
        cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def _notebook(
    cells: Sequence[NotebookNode], digest: str, installed_marks: Mapping[str, Any] | None = None
) -> NotebookNode:
    """Return a notebook without outputs; its first code asks whether the course is installed."""
    installed = _code_cell(INSTALLED_ID, render("authoring/installed.txt"), marks=installed_marks)
    installed.metadata["jupyter"] = {"source_hidden": True}
    installed.metadata["slideshow"] = {"slide_type": "skip"}
    is_code = [cell.cell_type == "code" for cell in cells]
    first = is_code.index(True) if any(is_code) else len(cells)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {
        "kernelspec": kernel,
        "language_info": {"name": "python"},
        built.METADATA_KEY: {built.SOURCES: digest},
    }
    notebook = new_notebook(cells=[*cells[:first], installed, *cells[first:]], metadata=metadata)
    notebook.metadata[built.METADATA_KEY][built.OUTPUTS] = built.outputs_digest(notebook)
    return notebook


def slide_types(cells: Sequence[SourceCell]) -> dict[str, str]:
    """Return the slide types of a lesson's cells by cell id; other cells continue a slide.

    Nothing gives a prediction's answer away. If a slide would get too tall, it continues on a
    subslide.
    """
    types = {}
    filled = 0.0
    for cell in cells:
        lines = _estimate_lines(cell)
        if cell.heading:
            types[cell.id], filled = "slide", 0.0
        elif cell.source.startswith((PREDICTION, WRITE)):
            types[cell.id], filled = "subslide", 0.0
        elif "prediction" in cell.metadata:
            types[cell.id] = "fragment"
        elif cell.is_exercise:
            types[check_id(cell.metadata["exercise"])] = "skip"
            types[our_version_id(cell.metadata["exercise"])] = "fragment"
        elif filled + lines > MAX_SLIDE_LINES:
            types[cell.id], filled = "subslide", 0.0
        filled += lines
    return types


def _estimate_lines(cell: SourceCell) -> float:
    """Estimate the height of a cell with its output, in lines of code."""
    if cell.kind == "markdown":
        return sum(
            0.5 + math.ceil(len(line) / MAX_LINE_CHARACTERS) for line in cell.source.splitlines()
        )
    output = sum(lines for name, lines in OUTPUT_LINES.items() if f"{name}(" in cell.source)
    return len(cell.source.splitlines()) + 1 + output
