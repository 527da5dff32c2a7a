"""Write the course as a website: Sphinx renders the built notebooks and the documents."""

import re
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path, PurePosixPath

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.built import (
    PREDICT_ENDING,
    check_id,
    hides_outputs,
    our_version_id,
    show_outputs,
)
from pytree_course.course import GOING_DEEPER, Course, CourseError
from pytree_course.judging.expected import BuiltLesson, Prediction
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES
from pytree_course.released_files import read_bundle, write_bundle
from pytree_course.rendering import render
from pytree_course.sources.predictions import FOLD, FOLD_END, OPTION
from pytree_course.sources.source_cells import slug

# The other documents are for contributors, and some of them show answers.
DOCUMENTS = [
    f"docs/{name}.md"
    for name in ("CHANGELOG", "learning", "teaching", "plans", "security", "performance")
]

ANCHOR = re.compile(r'(\]\(<?[\w./-]*|href=\\"[\w./-]+\.ipynb)#([^)>"\\]+)')
"""A link with an anchor: `](page.md#Title` in Markdown, `href=\\"a.ipynb#Title` in a notebook."""
NOTEBOOK_IN_HTML = re.compile(r'(href=\\"[\w./-]+)\.ipynb')
"""A link between notebooks, in HTML inside a notebook's JSON."""
_PAGE_NAMES = "|".join(re.escape(PurePosixPath(name).name) for name in DOCUMENTS)
LINK_OUTSIDE_SITE = re.compile(
    rf"(?<!!)\[([^]]+)\]\((?!https:|#|\S*({_PAGE_NAMES}|\.ipynb)\b)[^)]+\)"
)
"""A link to a file that is not a page of the site; the site shows only the link's text."""
ANSWER_END = "\n\n</div></div>"
"""Closes the elements that the template `choice.html` opens, below the outputs of an answer."""


def write_site(course: Course, folder: Path) -> None:
    """Write the site into a folder that is new, empty or an earlier site."""
    settings = course.root / "docs" / "site"
    if not settings.is_dir():
        raise CourseError("This copy of the course has no docs/site, which a website needs.")
    folder = folder.resolve()
    # Sphinx writes objects.inv into every site. A folder without it may be anything.
    if folder.exists() and any(folder.iterdir()) and not (folder / "objects.inv").exists():
        raise CourseError(f"{folder} is neither empty nor an earlier site: name another folder.")
    released = read_bundle(course)
    pages = _pages(course, released)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the folder, so that the new site can be renamed; the earlier one goes only then.
    with tempfile.TemporaryDirectory(prefix=".site-", dir=folder.parent) as temporary:
        new_site = Path(temporary) / "new"
        _run_sphinx(settings, pages, new_site)
        for name in pages:
            if name.endswith(".ipynb"):
                (new_site / name).write_bytes(released[name])  # for the reader to download
        if folder.exists():
            folder.rename(Path(temporary) / "earlier")
        new_site.rename(folder)


def _run_sphinx(settings: Path, pages: dict[str, bytes], site: Path) -> None:
    with tempfile.TemporaryDirectory() as sources, tempfile.TemporaryDirectory() as doctrees:
        write_bundle(Path(sources), pages)
        # Sphinx runs in an environment of its own, which learners do not need.
        command = [sys.executable, "-m", "uv", "--quiet", "tool", "run", "--python", sys.executable]
        command += ["--with-requirements", str(settings / "requirements.txt"), "--from", "sphinx"]
        command += ["sphinx-build", "--quiet", "--fail-on-warning", "--doctree-dir", doctrees]
        command += ["--conf-dir", str(settings), sources, str(site)]
        if subprocess.run(command, check=False).returncode != 0:
            raise CourseError("Sphinx did not build the site; the reason is above.")


def _pages(course: Course, released: dict[str, bytes]) -> dict[str, bytes]:
    """Return the sources of Sphinx's pages, and their pictures."""
    images = (course.root / "docs" / "images").iterdir()
    pages = {f"docs/images/{image.name}": image.read_bytes() for image in images}
    for name in ("README.md", *DOCUMENTS):
        text = _with_site_links((course.root / name).read_text(encoding="utf-8"))
        pages[name] = LINK_OUTSIDE_SITE.sub(r"\1", text).encode()
    notebooks = [name for name in released if name.startswith(("notebooks/", "exercises/"))]
    notebooks.sort(key=lambda name: PurePosixPath(name).stem)  # each lesson, then its exercises
    for name in notebooks:
        pages[name] = _notebook_page(course, name, released[name].decode()).encode()
    at_top = [name for name in notebooks if "/deeper/" not in name]
    contents = render("authoring/site_contents.md", notebooks=at_top, documents=DOCUMENTS)
    pages["index.md"] = pages.pop("README.md") + contents.encode()
    return pages


def _notebook_page(course: Course, name: str, text: str) -> str:
    """Return the source of a notebook's page; a lesson's page lists its deeper sections."""
    path = PurePosixPath(name)
    is_deeper = path.parent.parent.name == "deeper"
    files = course.lesson(path.parent.name if is_deeper else path.stem)
    notebook = nbformat.reads(_with_site_links(text), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != INSTALLED_ID]
    # Exercise notebooks, and pages such as the start page, have no expected results.
    if files.expected.exists():
        lesson = BuiltLesson.read(files.expected)
        notebook.cells = _lesson_cells(notebook.cells, lesson)
        if not is_deeper:
            pages_below = [f"deeper/{files.stem}/{section}" for section in lesson.deeper]
            toctree = render("authoring/site_deeper.md", pages=pages_below)
            notebook.cells.append(new_markdown_cell(toctree))
    return str(nbformat.writes(notebook))


def _lesson_cells(cells: list[NotebookNode], lesson: BuiltLesson) -> list[NotebookNode]:
    """Return a lesson's cells adapted to the web, where no kernel runs them."""
    practice = lesson.exercises.keys() - lesson.graded.keys()
    checks = {check_id(name) for name in practice}
    our_versions = {our_version_id(name) for name in practice}
    shown: list[NotebookNode] = []
    for cell in cells:
        if cell.id in checks or cell.id.endswith(PREDICT_ENDING):
            continue  # they do nothing without a kernel
        if hides_outputs(cell):
            show_outputs(cell)
            if cell.outputs:
                cell.metadata["tags"].append("waits")  # for the prediction above: see site.js
        if cell.id in our_versions:
            cell.metadata["tags"] = ["hide-input"]
        shown.append(cell)
    return _with_choices(shown, lesson)


def _with_choices(cells: list[NotebookNode], lesson: BuiltLesson) -> list[NotebookNode]:
    """Return cells with a choice for each prediction, which uncovers its answer and explanation."""
    adapted: list[NotebookNode] = []
    for cell, following in pairwise([*cells, new_markdown_cell()]):
        if cell.id in lesson.predictions:
            adapted += _prediction_cells(cell, lesson.predictions[cell.id])
            if not following.source.startswith(FOLD):  # no explanation, whose text would end it
                adapted.append(new_markdown_cell(ANSWER_END))
        else:
            if cell.cell_type == "markdown":
                cell.source = _adapted_text(cell.source)
            adapted.append(cell)
    return adapted


def _adapted_text(text: str) -> str:
    """Adapt a lesson's text: a choice shows the options, and uncovers the explanation."""
    if text.startswith(f"# {GOING_DEEPER}"):
        text = f"#{text}"  # Sphinx takes one title for each page
    if text.startswith(FOLD):
        text = text.removeprefix(FOLD).replace(FOLD_END, ANSWER_END, 1)
    return OPTION.sub("", text)  # only predictions have such a list


def _prediction_cells(cell: NotebookNode, prediction: Prediction) -> list[NotebookNode]:
    """Return the cells of a prediction: its code, a choice that uncovers the rest, its outputs.

    `ANSWER_END` has to follow: at the end of the explanation, or in a cell of its own.
    """
    choice = FEEDBACK_TEMPLATES.render("authoring/choice.html", name=cell.id, prediction=prediction)
    cell.metadata["tags"] = ["remove-input"]
    return [new_code_cell(cell.source), new_markdown_cell(choice), cell]


def _with_site_links(text: str) -> str:
    """Translate anchors to the site's form, and `.ipynb` in HTML, which Sphinx does not do."""
    text = ANCHOR.sub(lambda link: f"{link[1]}#{slug(link[2])}", text)
    return NOTEBOOK_IN_HTML.sub(r"\1.html", text)
