"""From sources to notebooks, not yet executed."""

from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from pytree_course.authoring.sources import Answer, Exercise, LessonSources, SourceCell, slug
from pytree_course.built import METADATA_KEY, outputs_digest
from pytree_course.checking.feedback import section_link

CHECK_OUTPUT, IGNORE_OUTPUT = "nbval-check-output", "nbval-ignore-output"
PREDICTION = "⟐"
"""What a prediction starts with: the code cell after it holds the answer."""
EXERCISE_OPTIONS = {
    *("exercise", "answers", "points", "minutes", "stars", "section", "hints", "id"),
}


def render_lesson(sources: LessonSources) -> NotebookNode:
    """Return the lesson's notebook, without outputs."""
    cells = []
    predicting = False
    for cell_id, cell in _with_ids(sources.lesson):
        if cell.kind == "markdown":
            cells.append(_markdown(cell_id, cell.source))
            predicting = cell.source.startswith(PREDICTION)
        else:
            cells.append(_code(cell_id, cell.source, cell))
            if predicting:
                # JupyterLab shows the stored answer only once the learner runs the cell.
                cells[-1].metadata["jupyter"] = {"outputs_hidden": True}
            predicting = False
    return _notebook(cells, sources.lesson_digest)


def render_exercises(sources: LessonSources) -> NotebookNode:
    """Return the exercise notebook, as it is handed out."""
    return _render_exercises(sources, {name: e.starter for name, e in sources.exercises.items()})


def render_solutions(sources: LessonSources) -> NotebookNode:
    """Return the solution notebook: the exercise notebook with the right answers, no outputs."""
    return _render_exercises(sources, {name: e.solution for name, e in sources.exercises.items()})


def answer_id(exercise: str) -> str:
    """Return the id of an exercise's answer cell."""
    return f"{exercise}-answer"


def check_id(exercise: str) -> str:
    """Return the id of an exercise's check cell."""
    return f"{exercise}-check"


def _render_exercises(sources: LessonSources, answers: dict[str, Answer]) -> NotebookNode:
    by_heading = {exercise.title: exercise for exercise in sources.exercises.values()}
    cells = []
    for cell_id, cell in _with_ids(sources.exercise_cells):
        if cell.kind == "markdown":
            exercise = by_heading.get(cell.heading or "")
            text = _with_facts(cell.source, exercise, sources) if exercise else cell.source
            cells.append(_markdown(cell_id, text))
        elif "exercise" in cell.metadata:
            exercise = sources.exercises[cell.metadata["exercise"]]
            cells.append(_code(answer_id(exercise.name), answers[exercise.name].source, cell))
            call = f"check.{exercise.name}({', '.join(exercise.answers)})"
            cells.append(_code(check_id(exercise.name), call, cell))
        else:
            cells.append(_code(cell_id, cell.source, cell))
    return _notebook(cells, sources.exercises_digest)


def _with_ids(cells: list[SourceCell]) -> Iterator[tuple[str, SourceCell]]:
    """Give each cell its own id, or its section's slug and its number within the section.

    So a cell added to one section changes no id in another.
    """
    section, number = "start", 0
    for cell in cells:
        if cell.heading:
            section, number = slug(cell.heading), 0
        number += 1
        yield str(cell.metadata.get("id", f"{section[:56]}-{number}")), cell


def _with_facts(text: str, exercise: Exercise, sources: LessonSources) -> str:
    """Put an exercise's difficulty, points, minutes and lesson section under its heading."""
    stars = "★" * exercise.stars + "☆" * (3 - exercise.stars)
    points = f"{exercise.points} point{'s' if exercise.points != 1 else ''}"
    title = sources.sections[exercise.section]
    link = f"[{title}]({section_link(sources.files.stem, title)})"
    facts = f"{stars} · {points} · about {exercise.minutes} minutes · reread: {link}"
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{facts}\n{rest}"


def _markdown(cell_id: str, text: str) -> NotebookNode:
    return new_markdown_cell(text, id=cell_id)


def _code(cell_id: str, code: str, cell: SourceCell) -> NotebookNode:
    metadata = {key: value for key, value in cell.metadata.items() if key not in EXERCISE_OPTIONS}
    tags = [str(tag) for tag in metadata.pop("tags", [])]
    if IGNORE_OUTPUT not in tags:
        tags.append(CHECK_OUTPUT)
    return new_code_cell(code, id=cell_id, metadata={**metadata, "tags": tags})


def _notebook(cells: list[NotebookNode], digest: str) -> NotebookNode:
    notebook = new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
            METADATA_KEY: {"sources": digest},
        },
    )
    notebook.metadata[METADATA_KEY]["outputs"] = outputs_digest(notebook)
    return notebook
