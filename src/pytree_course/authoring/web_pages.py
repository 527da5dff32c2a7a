"""What Sphinx makes web pages of: built notebooks and documents, changed for readers of the web."""

import posixpath
import re
from collections.abc import Collection
from functools import partial
from pathlib import PurePosixPath

import nbformat
from markupsafe import Markup, escape
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from pytree_course.authoring.colab import Repository
from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.authoring.source_texts import FOLD, FOLD_END, slug
from pytree_course.authoring.sources import PREDICTION_OPTION
from pytree_course.built import hides_outputs, show_outputs
from pytree_course.bundle import bundle
from pytree_course.checking.expected import Expected, Prediction
from pytree_course.course import GOING_DEEPER, Course
from pytree_course.rendering import render
from pytree_course.widgets import NAMES

DOCUMENTS = (
    *("README.md", "CHANGELOG.md", "docs/learning.md", "docs/teaching.md", "docs/plans.md"),
    *("docs/security.md", "docs/performance.md"),
)
"""The other documents are for those who change the course, and some of them show answers."""

LINK = re.compile(r"(?<!!)\[(?P<text>[^]]*)\]\(<?(?P<path>[^)>#\s]*)(?P<anchor>#[^)>]*)?>?\)")
LINK_IN_HTML = re.compile(r'(?P<path>href="[\w./]+)\.ipynb(?P<anchor>#[^"]*)?(?=")')
LIVE = re.compile(
    "|".join(rf"\b{name}\(" for name, entry in NAMES.items() if ".widgets." in entry.module)
)
"""The call of something to play with, which needs a kernel."""
ANSWER_END = "\n\n</div></div>"
"""Ends what the template `choice.html` begins."""


def web_pages(course: Course, repository: Repository | None) -> dict[str, bytes]:
    """Return the files that Sphinx makes pages of; what links to others lies in the repository."""
    notebooks = {
        name: nbformat.reads(content.decode(), as_version=4)
        for name, content in bundle(course).items()
        if re.match(r"(notebooks|exercises)/", name)
    }
    names = {*DOCUMENTS, *notebooks}
    pages = {}
    for name in DOCUMENTS:
        text = (course.root / name).read_text(encoding="utf-8")
        pages[name] = LINK.sub(partial(_web_link, name, names, repository), text).encode()
    for name, notebook in notebooks.items():
        expected = course.lesson(PurePosixPath(name).stem).expected
        predictions = Expected.read(expected).predictions if expected.exists() else {}
        notebook.cells = _web_cells(notebook.cells, predictions)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = LINK.sub(partial(_web_link, name, names, repository), cell.source)
        pages[name] = nbformat.writes(notebook).encode()
    # Each lesson, and then its exercises.
    order = sorted(notebooks, key=lambda name: (PurePosixPath(name).stem, name))
    contents = render("authoring/site_contents.md", notebooks=order, documents=DOCUMENTS[1:])
    pages["index.md"] = pages.pop("README.md") + contents.encode()
    for picture in (course.root / "docs" / "images").iterdir():
        pages[f"docs/images/{picture.name}"] = picture.read_bytes()
    return pages


def _web_link(
    page: str, pages: Collection[str], repository: Repository | None, link: re.Match[str]
) -> str:
    """Return a link of a page to a heading as the site names it, or to a file of the repository."""
    path, anchor = link["path"], f"#{slug(link['anchor'])}" if link["anchor"] else ""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if ":" in path:
        return link[0]
    if not path or target in pages:
        return f"[{link['text']}]({path}{anchor})"
    return f"[{link['text']}]({repository.file(target)})" if repository else link["text"]


def _web_cells(cells: list[NotebookNode], predictions: dict[str, Prediction]) -> list[NotebookNode]:
    """Return a notebook's cells as they are read on the web."""
    made: list[NotebookNode] = []
    is_deeper = False
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if cell.id == INSTALLED_ID or cell.id.endswith("-predict"):
            continue
        if cell.cell_type == "markdown":
            is_deeper |= cell.source.startswith(f"# {GOING_DEEPER}")
            if is_deeper and cell.source.startswith("#"):
                cell.source = f"#{cell.source}"  # a page has one title
            made.append(cell)
        elif cell.id in predictions:
            made[-1].source = PREDICTION_OPTION.sub("", made[-1].source)
            made += [_without_outputs(cell), _choice(cell.id, predictions[cell.id])]
            made += _outputs(cell)
            if following is not None and following.source.startswith(FOLD):
                answer = following.source.removeprefix(FOLD)
                following.source = answer.replace(FOLD_END, ANSWER_END, 1)
            else:
                made.append(new_markdown_cell(ANSWER_END))
        else:
            made += [_without_outputs(cell), *_outputs(cell)]
    return made


def _without_outputs(cell: NotebookNode) -> NotebookNode:
    return new_code_cell(cell.source)


def _choice(name: str, prediction: Prediction) -> NotebookNode:
    """Return a prediction's options, each to be opened; the answer stands below them."""
    options = {
        letter: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(option))))
        for letter, option in prediction.options.items()
    }
    html = render("authoring/choice.html", name=name, options=options, answer=prediction.answer)
    return new_markdown_cell(html)


def _outputs(cell: NotebookNode) -> list[NotebookNode]:
    """Return what a cell yields, its links as the site has them; widgets say what they need."""
    if hides_outputs(cell):
        show_outputs(cell)
    if not cell.outputs:
        return []
    for output in cell.outputs:
        for kind in output.get("data", {}).keys() & {"text/html"}:
            output.data[kind] = LINK_IN_HTML.sub(_link_in_html, output.data[kind])
    shown = [new_code_cell(cell.source, outputs=cell.outputs, metadata={"tags": ["remove-input"]})]
    if LIVE.search(cell.source):
        shown.append(new_markdown_cell(render("authoring/live.html")))
    return shown


def _link_in_html(link: re.Match[str]) -> str:
    return f"{link['path']}.html" + (f"#{slug(link['anchor'])}" if link["anchor"] else "")
