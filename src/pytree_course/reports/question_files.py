"""Questions of a lesson for a class: as Markdown, as slides, and as Moodle's XML."""

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from pytree_course.checking import feedback as feedback  # its filters are the templates'
from pytree_course.checking.expected import Expected
from pytree_course.checking.questions import Question, questions
from pytree_course.course import CourseError
from pytree_course.rendering import render


def for_class(expected: Expected) -> list[Question]:
    """Return a question about each misconception of a lesson, each case only once."""
    best = [asked[0] for about, asked in questions(expected).items() if about.name]
    return [*{(each.about.exercise, each.case): each for each in best}.values()]


def in_form(file: Path, title: str, asked: Sequence[Question]) -> str:
    """Write questions and their answers as the ending of a file's name says."""
    match file.suffix:
        case ".md" | ".xml":
            return render(f"reports/questions{file.suffix}", title=title, asked=asked) + "\n"
        case ".ipynb":
            return _slides(title, asked)
    raise CourseError(f"{file}: the name should end in .md, .ipynb (slides) or .xml (Moodle).")


def _slides(title: str, asked: Sequence[Question]) -> str:
    """Write a notebook for nbconvert: each answer comes one step after its question."""
    steps = [("title", "slide", f"# {title}")]
    for number, question in enumerate(asked, 1):
        for part, kind in (("question", "slide"), ("answer", "fragment")):
            text = render(f"reports/{part}.md", number=number, question=question)
            steps.append((f"{part}-{number}", kind, text))
    cells = [
        new_markdown_cell(text, id=name, metadata={"slideshow": {"slide_type": kind}})
        for name, kind, text in steps
    ]
    return nbformat.writes(new_notebook(cells=cells)) + "\n"
