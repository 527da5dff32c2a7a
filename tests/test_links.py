"""Every link of lessons, exercises and pages leads somewhere; nothing is fetched to find out."""

import importlib
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest

from pytree_course.authoring.sources import read_sources
from pytree_course.course import Course
from tests.conftest import ROOT

PAGES = Course(ROOT).with_sources()
NOTEBOOKS = sorted(
    file
    for name in ("notebooks", "exercises", "solutions")
    for file in (ROOT / name).glob("*.ipynb")
)
each_page = pytest.mark.parametrize("files", PAGES, ids=lambda files: files.stem)
each_notebook = pytest.mark.parametrize(
    "file", NOTEBOOKS, ids=lambda file: f"{file.parent.name}/{file.stem}"
)

FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)>?[^)]*\)|href=["']([^"']+)["']|<(https?://[^>\s]+)>""")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
OF_JAX = re.compile(r"https://docs\.jax\.dev/en/latest/_autosummary/([\w.]+)\.html(#[\w.-]+)?")


def anchor(heading: str) -> str:
    """Return what JupyterLab calls a heading: markup is gone, and spaces are hyphens."""
    return re.sub(r"[`*]", "", heading).replace(" ", "-")


def links_in(text: str) -> Iterator[str]:
    """Return where the links of a Markdown text lead; code that is shown has none."""
    for found in LINK.finditer(FENCED.sub("", text)):
        yield next(filter(None, found.groups()))


def anchors_in(text: str) -> set[str]:
    """Return the anchors of a Markdown text."""
    return {anchor(heading) for heading in HEADING.findall(FENCED.sub("", text))}


class Texts:
    """The Markdown of all notebooks, by the notebooks' names such as notebooks/01_leaves.ipynb."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.anchors = {name: anchors_in(text) for name, text in texts.items()}

    def broken(self, name: str) -> list[str]:
        """Return the links of a notebook that lead to no page, no heading and no file."""
        return [link for link in links_in(self.texts[name]) if not self._leads(name, link)]

    def _leads(self, name: str, link: str) -> bool:
        if "://" in link:
            return True  # those on the web have tests of their own
        path, _, section = link.partition("#")
        to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if to.endswith(".ipynb"):
            return to in self.texts and (not section or section in self.anchors[to])
        return (ROOT / to).exists()


@cache
def sources() -> Texts:
    """Return what the author wrote: what is built may be older."""
    texts = {}
    for files in PAGES:
        read = read_sources(files)
        parts = {files.notebook: read.lesson, files.exercises: read.exercise_cells}
        for file, cells in parts.items():
            text = "\n\n".join(cell.source for cell in cells if cell.kind == "markdown")
            texts[file.relative_to(ROOT).as_posix()] = text
    return Texts({name: text for name, text in texts.items() if text})


@cache
def built() -> Texts:
    """Return the texts of the notebooks, with what the build added to them."""
    return Texts({file.relative_to(ROOT).as_posix(): markdown(file) for file in NOTEBOOKS})


def markdown(file: Path) -> str:
    """Return the text cells of a notebook."""
    cells = nbformat.read(file, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@cache
def is_in_jax(name: str) -> bool:
    """Say whether a dotted name, such as jax.tree.map, is something that JAX has."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def wrong_on_the_web(text: str) -> list[str]:
    """Return the links to the web that are not encrypted, or name what JAX does not have."""
    wrong = []
    for link in links_in(text):
        named = OF_JAX.fullmatch(link)
        is_unknown = "/_autosummary/" in link and (named is None or not is_in_jax(named[1]))
        if link.startswith("http:") or is_unknown:
            wrong.append(link)
    return wrong


@each_page
def test_every_link_that_the_author_wrote_leads_to_a_heading_or_a_file(files):
    for file in (files.notebook, files.exercises):
        name = file.relative_to(ROOT).as_posix()
        if name in sources().texts:
            assert sources().broken(name) == []


@each_notebook
def test_every_link_of_a_built_notebook_leads_to_a_heading_or_a_file(file):
    assert built().broken(file.relative_to(ROOT).as_posix()) == []


@each_page
def test_links_to_the_web_are_encrypted_and_name_what_jax_has(files):
    for file in (files.notebook, files.exercises):
        text = sources().texts.get(file.relative_to(ROOT).as_posix(), "")
        assert wrong_on_the_web(text) == []


def test_every_word_of_the_glossary_has_a_heading_that_is_its_anchor():
    for word in ("leaf", "key-path", "key-array", "aux_data", "sharding"):
        assert word in sources().anchors["notebooks/glossary.ipynb"]


def test_a_link_that_leads_nowhere_is_found():
    texts = Texts(
        {
            "notebooks/a.ipynb": "# A\n\n[1](#A) [2](#B) [3](b.ipynb#Two-words) [4](b.ipynb#Two)",
            "notebooks/b.ipynb": "## Two words\n\n[5](../exercises/a.ipynb) [6](../README.md)\n"
            "```md\n# C\n[7](#nowhere)\n```\n[8](#C)",
        }
    )
    assert texts.broken("notebooks/a.ipynb") == ["#B", "b.ipynb#Two"]
    assert texts.broken("notebooks/b.ipynb") == ["../exercises/a.ipynb", "#C"]


def test_a_link_to_what_jax_does_not_have_is_found():
    page = "https://docs.jax.dev/en/latest/_autosummary/{}.html"
    there = [page.format(name) for name in ("jax.tree.map", "jax.lax.scan", "jax.Array.at")]
    gone = [page.format("jax.tree.mop"), "http://docs.jax.dev/en/latest/pytrees.html"]
    assert wrong_on_the_web(" ".join(f"[a]({link})" for link in there + gone)) == gone
