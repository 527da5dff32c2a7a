"""Notebooks for Colab: their first cell, and their links."""

import json
import re

import pytest

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.authoring.release import for_colab
from pytree_course.course import Course, CourseError
from pytree_course.released_files import read_bundle
from tests.conftest import ROOT

ADDRESS = "https://colab.research.google.com/github/ada/pytrees/blob/spring/colab"


@pytest.fixture(scope="module")
def learners():
    return read_bundle(Course(ROOT))


@pytest.fixture(scope="module")
def colab(learners):
    return for_colab(learners, "ada/pytrees@spring")


def notebooks(files):
    return {name: content.decode() for name, content in files.items() if ".ipynb" in name}


def test_every_notebook_is_there_and_first_installs_the_course_and_asks_where_progress_goes(
    learners, colab
):
    wanted = [name for name in notebooks(learners) if not name.startswith("checks")]
    assert notebooks(colab).keys() == {f"colab/{name}" for name in wanted}
    readme = colab["README.md"].decode()
    for name, text in notebooks(colab).items():
        assert f"{ADDRESS}/{name.removeprefix('colab/')})" in readme
        first = next(cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
        assert first["id"] == INSTALLED_ID
        code = "".join(first["source"])
        assert '--no-deps "git+https://github.com/ada/pytrees@spring"' in code
        assert re.search(r"^progress_folder = ", code, re.MULTILINE)
        assert "source_hidden" not in json.dumps(first["metadata"])


def test_every_link_between_notebooks_leads_to_one_on_colab(colab):
    for name, text in notebooks(colab).items():
        links = re.findall(r'(?:\]\(|href=\\")([^)"\\]*\.ipynb[^)"\\]*)', text)
        assert links, name
        for link in links:
            assert link.startswith(f"{ADDRESS}/"), (name, link)
            assert f"colab/{link.removeprefix(ADDRESS + '/')}" in colab, (name, link)


@pytest.mark.parametrize("name", ["pytrees", "https://github.com/ada/x", 'a/b"; rm', "a/b@-x"])
def test_what_names_no_repository_is_refused_with_how_to_write_it(name):
    with pytest.raises(CourseError, match=r"OWNER/REPO, such as ada/pytrees"):
        for_colab({}, name)
