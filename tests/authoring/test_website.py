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

LESSON, DEEPER = "notebooks/01_leaves.ipynb", "notebooks/deeper/01_leaves/"


@pytest.fixture(scope="module")
def pages():
    """Return the sources of the pages of one lesson, and of the documents."""
    others = re.compile(r"(notebooks|exercises)/(deeper/)?0[02-9].*")
    released = read_bundle(Course(ROOT))
    kept = {name: data for name, data in released.items() if not others.match(name)}
    made = website._pages(Course(ROOT), kept).items()
    return {name: page.decode() for name, page in made if name.endswith((".md", ".ipynb"))}


@pytest.fixture(scope="module")
def cells(pages):
    return nbformat.reads(pages[LESSON], as_version=4).cells


def test_every_notebook_and_document_is_listed_below_the_readme(pages, cells):
    assert pages["index.md"].startswith((ROOT / "README.md").read_text("utf-8").splitlines()[0])
    listed = [line for line in pages["index.md"].splitlines() if line in pages]
    assert listed[-len(DOCUMENTS) :] == DOCUMENTS
    place = listed.index(LESSON)
    assert listed[place + 1] == "exercises/01_leaves_exercises.ipynb"
    assert not any("/deeper/" in name for name in listed)
    below = [line for line in cells[-1].source.splitlines() if line.startswith("deeper/")]
    deeper = [name for name in pages if name.startswith(DEEPER)]
    assert sorted(f"notebooks/{name}.ipynb" for name in below) == sorted(deeper)
    assert "toctree" not in pages[deeper[0]]


def test_a_prediction_is_a_choice_that_uncovers_its_outputs_and_its_explanation(cells):
    lesson = BuiltLesson.read(Course(ROOT).lesson("01_leaves").expected)
    of_no_use = [each.id for each in cells if each.id.endswith((PREDICT_ENDING, "-check"))]
    assert of_no_use + [each for each in cells if each.id == INSTALLED_ID] == []
    asked = [number for number, cell in enumerate(cells) if cell.id in lesson.predictions]
    assert len(asked) > 3
    for number in asked:
        code, choice, answer, below = cells[number - 2 : number + 2]
        assert code.source == answer.source
        assert answer.metadata.tags == ["remove-input"]
        assert choice.source.startswith('<div class="prediction">')
        assert below.source.count("</div></div>") == 1
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert not re.search(r"^(- [A-Z]\. |# Going deeper|<summary>The answer)", text, re.MULTILINE)
    ours = [cell.metadata.tags for cell in cells if cell.id.endswith("-ours")]
    assert ours == [["hide-input"]] * len(ours) != []
    assert any("waits" in cell.metadata.get("tags", ()) for cell in cells)


def test_links_lead_to_pages_and_their_anchors_or_are_words(pages):
    for page in pages.values():
        anchors = re.findall(r"\]\([\w./-]*#([^)]+)\)", page)
        assert all(re.fullmatch(r"[a-z0-9-]+", anchor) for anchor in anchors)
        assert not re.search(r'href=\\"[\w./-]+\.ipynb', page)
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
