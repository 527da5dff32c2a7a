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
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.feedback import render
from pytree_course.released_files import bundle, write_bundle
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
    released = bundle(course)
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
        place = PurePosixPath(name)
        is_deeper = place.parent.parent.name == "deeper"
        files = course.lesson(place.parent.name if is_deeper else place.stem)
        expected = BuiltLesson.read(files.expected) if files.expected.exists() else None
        notebook = nbformat.reads(LINK.sub(_link, released[name].decode()), as_version=4)
        notebook.cells = _cells(notebook.cells, expected)
        if expected and not is_deeper:
            pages_below = [f"deeper/{files.stem}/{slug}" for slug in expected.deeper]
            toctree = render("authoring/site_deeper.md", pages=pages_below)
            notebook.cells.append(new_markdown_cell(toctree))
        pages[name] = nbformat.writes(notebook).encode()
    at_top = [name for name in notebooks if "/deeper/" not in name]
    contents = render("authoring/site_contents.md", notebooks=at_top, documents=DOCUMENTS)
    pages["index.md"] = pages.pop("README.md") + contents.encode()
    return pages


def _cells(cells: list[NotebookNode], expected: BuiltLesson | None) -> list[NotebookNode]:
    """Return a notebook's cells adapted to the web; only lessons have `expected` results."""
    predictions = expected.predictions if expected else {}
    practice = expected.exercises.keys() - expected.graded.keys() if expected else set()
    made: list[NotebookNode] = []
    level = ""
    for cell, following in zip(cells, [*cells[1:], new_markdown_cell()], strict=True):
        if cell.id == INSTALLED_ID or cell.id.endswith("-predict"):
            continue
        if cell.id.removesuffix("-check") in practice:
            continue  # there is no kernel to run it
        if cell.id.removesuffix("-ours") in practice:
            cell.metadata["tags"] = ["hide-input"]
        if cell.source.startswith(f"# {GOING_DEEPER}"):
            level = "#"  # a page has one title
        if cell.cell_type == "markdown":
            cell.source = re.sub("^#", f"{level}#", cell.source)
        if hides_outputs(cell):
            show_outputs(cell)
        if cell.id not in predictions:
            made.append(cell)
            continue
        made[-1].source = OPTION.sub("", made[-1].source)
        choice = render("authoring/choice.html", name=cell.id, prediction=predictions[cell.id])
        made += [new_code_cell(cell.source), new_markdown_cell(choice), cell]
        cell.metadata["tags"] = ["remove-input"]
        if following.source.startswith(FOLD):
            answer = following.source.removeprefix(FOLD)
            following.source = answer.replace(FOLD_END, ANSWER_END, 1)
        else:
            made.append(new_markdown_cell(ANSWER_END))
    return made


def _link(link: re.Match[str]) -> str:
    """Translate an anchor to the site's form, and `.ipynb` in HTML, which Sphinx does not do."""
    path = link["path"].replace(".ipynb", ".html") if "href" in link["before"] else link["path"]
    return link["before"] + path + (f"#{slug(link['anchor'])}" if link["anchor"] else "")
