"""Every link of lessons, exercises and pages leads somewhere; nothing is fetched to find out."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pytest

from tests.conftest import ROOT

NOTEBOOKS = sorted(
    file
    for name in ("notebooks", "exercises", "solutions")
    for file in (ROOT / name).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in file.parts
)
each_notebook = pytest.mark.parametrize(
    "file", NOTEBOOKS, ids=lambda file: file.relative_to(ROOT).as_posix()
)

FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)>?[^)]*\)|href=["']([^"']+)["']|<(https?://[^>\s]+)>""")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
JAX_DOCS = re.compile(r"https://docs\.jax\.dev/en/\w+/([\w./-]+)\.html")
SUPERSEDED = {
    *["advanced_autodiff", "aot", "array_refs", "async_dispatch", "beginner_guide", "benchmarking"],
    *["buffer_donation", "custom_pytrees", "debugging", "debugging/index", "errors"],
    *["debugging/slow_tracing_compilation", "gradient-checkpointing", "jax-101", "jit-compilation"],
    *["key-concepts", "notebooks/Common_Gotchas_in_JAX", "notebooks/autodiff_cookbook", "parallel"],
    *["notebooks/autodiff_remat", "notebooks/shard_map", "notebooks/thinking_in_jax", "profiling"],
    *["persistent_compilation_cache", "pytrees", "random-numbers", "tracing", "type_promotion"],
    *["external-callbacks", "working-with-pytrees"],
}
"""Pages of JAX's documentation that its levels 101 to 501 replace. Most are in JAX's own list,
docs/superseded.rst: they stay at their addresses, and nobody maintains them any more."""
OF_JAX = re.compile(r"https://docs\.jax\.dev/en/latest/_autosummary/([\w.]+)\.html(#[\w.-]+)?")


@cache
def markdown(file: Path) -> str:
    """Return the text cells of a notebook, without the code that they show."""
    cells = nbformat.read(file, as_version=4).cells
    texts = (cell.source for cell in cells if cell.cell_type == "markdown")
    return FENCED.sub("", "\n\n".join(texts))


def links_in(file: Path) -> Iterator[str]:
    """Return where the links of a notebook lead."""
    for found in LINK.finditer(markdown(file)):
        yield next(filter(None, found.groups()))


def anchors_in(file: Path) -> set[str]:
    """Return what JupyterLab calls the headings: markup is gone, and spaces are hyphens."""
    return {re.sub(r"[`*]", "", each).replace(" ", "-") for each in HEADING.findall(markdown(file))}


@each_notebook
def test_every_link_leads_to_a_file_and_its_heading_or_to_a_page_that_is_maintained(file):
    for link in links_in(file):
        if "://" in link:
            assert_maintained(link)
            continue
        path, _, section = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), link
        if section and target.suffix == ".ipynb":
            assert section in anchors_in(target), link


def assert_maintained(link: str) -> None:
    """Check that a link to the web is encrypted, and that JAX has and maintains what it names."""
    assert not link.startswith("http:"), link
    assert "jax.readthedocs.io" not in link, "JAX's documentation is at docs.jax.dev"
    page = JAX_DOCS.match(link)
    assert not page or page[1] not in SUPERSEDED, link
    if "/_autosummary/" in link:
        named = OF_JAX.fullmatch(link)
        assert named, link
        resolve_name(named[1])  # raises where JAX has no such name


def test_links_are_found_however_they_are_written_but_not_in_code(tmp_path):
    text = "## Two words\n\n[1](#B) [2](<b.ipynb#Two>) <a href='c'>3</a> <https://d.e>\n"
    cell = nbformat.v4.new_markdown_cell(text + "```md\n# C\n[4](#nowhere)\n```")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "a.ipynb")
    assert [*links_in(tmp_path / "a.ipynb")] == ["#B", "b.ipynb#Two", "c", "https://d.e"]
    assert anchors_in(tmp_path / "a.ipynb") == {"Two-words"}
