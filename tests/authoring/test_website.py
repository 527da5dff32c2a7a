"""The pages of the website, before Sphinx renders them: `browser/test_site.py` shows the site."""

import re
from types import SimpleNamespace

import nbformat
import pytest

from pytree_course.authoring import website
from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.authoring.website import DOCUMENTS, write_site
from pytree_course.built import PREDICT_ENDING
from pytree_course.course import Course, CourseError
from pytree_course.judging.expected import BuiltLesson
from pytree_course.released_files import read_bundle
from tests.conftest import ROOT

DEEPER = "notebooks/deeper/01_leaves/"


@pytest.fixture(scope="module")
def pages():
    """Return the sources of the pages of one lesson, and of the documents."""
    released = read_bundle(Course(ROOT))
    others = re.compile(r"(notebooks|exercises)/(deeper/)?0[02-9].*")
    kept = {name: data for name, data in released.items() if not others.match(name)}
    return {
        name: page.decode("utf-8", "replace")
        for name, page in website._pages(Course(ROOT), kept).items()
    }


def cells_of(page):
    return nbformat.reads(page, as_version=4).cells


def test_every_notebook_and_document_is_listed_below_the_readme(pages):
    index = pages["index.md"]
    assert index.startswith((ROOT / "README.md").read_text("utf-8").splitlines()[0])
    assert {*DOCUMENTS} < pages.keys()
    notebooks = [name for name in pages if name.endswith(".ipynb")]
    listed = [line for line in index.splitlines() if line in pages]
    assert listed == [name for name in notebooks if not name.startswith(DEEPER)] + DOCUMENTS
    assert listed.index("exercises/01_leaves_exercises.ipynb") == (
        listed.index("notebooks/01_leaves.ipynb") + 1
    )
    sections = BuiltLesson.read(Course(ROOT).lesson("01_leaves").expected).deeper
    (*_, below) = cells_of(pages["notebooks/01_leaves.ipynb"])
    assert [f"deeper/01_leaves/{slug}" in below.source for slug in sections] == [True] * len(
        sections
    )
    assert {name.removeprefix(DEEPER) for name in notebooks if name.startswith(DEEPER)} == {
        f"{slug}.ipynb" for slug in sections
    }
    assert not any(
        "toctree" in cell.source
        for cell in cells_of(pages[f"{DEEPER}{next(iter(sections))}.ipynb"])
    )


def test_a_prediction_is_a_choice_that_uncovers_its_outputs_and_its_explanation(pages):
    lesson = BuiltLesson.read(Course(ROOT).lesson("01_leaves").expected)
    practice = lesson.exercises.keys() - lesson.graded.keys()
    asked = 0
    for name, page in pages.items():
        if not name.startswith("notebooks/") or "01_leaves" not in name:
            continue
        cells = cells_of(page)
        ids = [cell.id for cell in cells]
        assert not [each for each in ids if each.endswith(PREDICT_ENDING) or each == INSTALLED_ID]
        assert not {f"{each}-check" for each in practice} & {*ids}
        for code, choice, answer, below in zip(
            cells, cells[1:], cells[2:], cells[3:], strict=False
        ):
            if answer.id not in lesson.predictions:
                continue
            asked += 1
            assert code.source == answer.source
            assert answer.metadata.tags == ["remove-input"]
            assert choice.source.startswith('<div class="prediction">')
            assert below.source.count("</div></div>") == 1
            assert "<summary>The answer" not in below.source
        for cell in cells:
            if cell.cell_type == "markdown":
                assert not re.search(r"^- [A-Z]\. ", cell.source, re.MULTILINE)
                assert not cell.source.startswith("# Going deeper")
            elif cell.id.endswith("-ours"):
                assert cell.metadata.tags == ["hide-input"]
    assert asked == len(lesson.predictions)
    assert any(
        "waits" in cell.metadata.get("tags", ())
        for cell in cells_of(pages["notebooks/01_leaves.ipynb"])
    )


def test_links_lead_to_pages_and_their_anchors_or_are_words(pages):
    for name, page in pages.items():
        if not name.endswith((".md", ".ipynb")):
            continue
        for anchor in re.findall(r"\]\([\w./-]*#([^)]+)\)", page):
            assert re.fullmatch(r"[a-z0-9-]+", anchor), (name, anchor)
        assert not re.search(r'href=\\"[\w./-]+\.ipynb', page), name
    assert "](../src/" not in pages["docs/teaching.md"]
    assert "](.github/" not in pages["index.md"]


def test_a_folder_that_holds_something_else_is_left_as_it_is(tmp_path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(CourseError, match="neither empty nor an earlier"):
        write_site(Course(ROOT), tmp_path)


def test_a_site_that_is_not_built_leaves_the_earlier_one(tmp_path, monkeypatch):
    (tmp_path / "objects.inv").touch()
    monkeypatch.setattr(website.subprocess, "run", lambda *_, check: SimpleNamespace(returncode=1))
    with pytest.raises(CourseError, match="did not build"):
        write_site(Course(ROOT), tmp_path)
    assert (tmp_path / "objects.inv").exists()
