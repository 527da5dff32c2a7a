"""Write the course as a website: Sphinx renders the built notebooks and the documents."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.built import hides_outputs, show_outputs
from pytree_course.course import GOING_DEEPER, Course, CourseError
from pytree_course.judging.expected import BuiltLesson, Prediction
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES
from pytree_course.released_files import read_bundle, write_bundle
from pytree_course.sources.predictions import FOLD, FOLD_END, OPTION
from pytree_course.sources.source_cells import slug

# The other documents are for contributors, and some of them show answers.
DOCUMENTS = [f"docs/{name}.md" for name in ("CHANGELOG", "learning", "teaching", "plans")]
DOCUMENTS += ["docs/security.md", "docs/performance.md"]

LINK = re.compile(
    r'(?P<before>\]\(<?|href=\\"(?=[\w./-]+\.ipynb))(?P<path>[\w./-]*)(?P<anchor>#[^)>"\\]+)?(?=[)>"\\])'
)
"""A link in Markdown, or one between notebooks in HTML inside a notebook's JSON."""
_PAGES = "|".join(PurePosixPath(name).name for name in DOCUMENTS)
ELSEWHERE = re.compile(rf"(?<!!)\[([^]]+)\]\((?!https:|#|\S*({_PAGES}|\.ipynb)\b)[^)]+\)")
"""A link to a file that is not a page of the site, which shows only the link's text."""
ANSWER_END = "\n\n</div></div>"  # closes the elements that the template `choice.html` opens


def write_site(course: Course, folder: Path) -> None:
    """Write the site into a folder that is new, empty or an earlier site."""
    settings = course.root / "docs" / "site"
    if not settings.is_dir():
        raise CourseError("This copy of the course has no docs/site, which a website needs.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "objects.inv").exists():
        raise CourseError(f"{folder} is no earlier site: name a new folder, or an empty one.")
    released = read_bundle(course)
    pages = _pages(course, released)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as sources, tempfile.TemporaryDirectory() as kept:
        write_bundle(Path(sources), pages)
        # Sphinx runs in an environment of its own, which learners do not need.
        run = [sys.executable, "-m", "uv", "--quiet", "tool", "run", "--python", sys.executable]
        run += ["--with-requirements", str(settings / "requirements.txt"), "--from", "sphinx"]
        run += ["sphinx-build", "--quiet", "--fail-on-warning", "--doctree-dir", kept]
        run += ["--conf-dir", str(settings), sources, str(folder)]
        if subprocess.run(run, check=False).returncode != 0:
            raise CourseError("Sphinx did not build the site; the reason is above.")
    for name in pages:
        if name.endswith(".ipynb"):
            (folder / name).write_bytes(released[name])  # for the reader to download


def _pages(course: Course, released: dict[str, bytes]) -> dict[str, bytes]:
    """Return the sources of Sphinx's pages, and their pictures."""
    images = (course.root / "docs" / "images").iterdir()
    pages = {f"docs/images/{image.name}": image.read_bytes() for image in images}
    for name in ("README.md", *DOCUMENTS):
        text = (course.root / name).read_text(encoding="utf-8")
        pages[name] = ELSEWHERE.sub(r"\1", LINK.sub(_link, text)).encode()
    notebooks = [name for name in released if name.startswith(("notebooks/", "exercises/"))]
    notebooks.sort(key=lambda name: PurePosixPath(name).stem)  # each lesson, then its exercises
    for name in notebooks:
        pages[name] = _notebook_page(course, name, released[name].decode()).encode()
    at_top = [name for name in notebooks if "/deeper/" not in name]
    contents = FEEDBACK_TEMPLATES.render(
        "authoring/site_contents.md", notebooks=at_top, documents=DOCUMENTS
    )
    pages["index.md"] = pages.pop("README.md") + contents.encode()
    return pages


def _notebook_page(course: Course, name: str, text: str) -> str:
    """Return the source of a notebook's page; a lesson's lists its deeper sections."""
    path = PurePosixPath(name)
    is_deeper = path.parent.parent.name == "deeper"
    files = course.lesson(path.parent.name if is_deeper else path.stem)
    # Only lessons have expected results: the stem of exercises is no lesson's.
    expected = BuiltLesson.read(files.expected) if files.expected.exists() else None
    notebook = nbformat.reads(LINK.sub(_link, text), as_version=4)
    if expected:
        notebook.cells = _lesson_cells(notebook.cells, expected)
    else:
        notebook.cells = [cell for cell in notebook.cells if cell.id != INSTALLED_ID]
    if expected and not is_deeper:
        pages_below = [f"deeper/{files.stem}/{section}" for section in expected.deeper]
        toctree = FEEDBACK_TEMPLATES.render("authoring/site_deeper.md", pages=pages_below)
        notebook.cells.append(new_markdown_cell(toctree))
    return str(nbformat.writes(notebook))


def _lesson_cells(cells: list[NotebookNode], expected: BuiltLesson) -> list[NotebookNode]:
    """Return a lesson's cells adapted to the web, where no kernel runs them."""
    practice = expected.exercises.keys() - expected.graded.keys()
    adapted: list[NotebookNode] = []
    is_going_deeper = False
    for cell, following in zip(cells, [*cells[1:], new_markdown_cell()], strict=True):
        is_practice_check = cell.id.removesuffix("-check") in practice
        if cell.id == INSTALLED_ID or cell.id.endswith("-predict") or is_practice_check:
            continue
        if cell.id.removesuffix("-ours") in practice:
            cell.metadata["tags"] = ["hide-input"]
        is_going_deeper |= cell.source.startswith(f"# {GOING_DEEPER}")
        if cell.cell_type == "markdown" and is_going_deeper:
            cell.source = re.sub("^#", "##", cell.source)  # a page has one title
        if hides_outputs(cell):
            show_outputs(cell)
        if cell.id in expected.predictions:
            adapted[-1].source = OPTION.sub("", adapted[-1].source)
            adapted += _asked(cell, expected.predictions[cell.id], following)
        else:
            adapted.append(cell)
    return adapted


def _asked(
    cell: NotebookNode, prediction: Prediction, following: NotebookNode
) -> list[NotebookNode]:
    """Return the cells of a prediction: its code, a choice that uncovers the answer, its outputs.

    The explanation in the cell that follows is uncovered with them.
    """
    choice = FEEDBACK_TEMPLATES.render("authoring/choice.html", name=cell.id, prediction=prediction)
    cells = [new_code_cell(cell.source), new_markdown_cell(choice), cell]
    cell.metadata["tags"] = ["remove-input"]
    if following.source.startswith(FOLD):
        answer = following.source.removeprefix(FOLD)
        following.source = answer.replace(FOLD_END, ANSWER_END, 1)
    else:
        cells.append(new_markdown_cell(ANSWER_END))
    return cells


def _link(link: re.Match[str]) -> str:
    """Translate an anchor to the site's form, and `.ipynb` in HTML, which Sphinx does not do."""
    path = link["path"].replace(".ipynb", ".html") if "href" in link["before"] else link["path"]
    return link["before"] + path + (f"#{slug(link['anchor'])}" if link["anchor"] else "")
