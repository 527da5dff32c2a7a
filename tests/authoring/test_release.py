"""What learners get: it has no answers in it, and everything a learner needs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.authoring.release import for_colab, release
from pytree_course.authoring.website import DOCUMENTS
from pytree_course.course import Course, CourseError
from pytree_course.released_files import AUTHORS_CODE, FILES, read_bundle
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT, ExerciseNotebook, contents
from tests.executed import outputs_of
from tests.leaks import find_leaks

# A prediction there shows a misconception, and what comes of it.
QUOTED = {("checks/expected/03_custom_nodes.json", "normal: not_registered")}
ADDRESS = "https://colab.research.google.com/github/ada/pytrees/blob/spring/colab"
RIGHT = "def count_leaves(tree):\n    return jax.tree.structure(tree).num_leaves"


@pytest.fixture(scope="module")
def lessons_bundle() -> dict[str, bytes]:
    return read_bundle(Course(ROOT))


@pytest.fixture(scope="module")
def exercises():
    lessons = Course(ROOT).lessons()
    return [each for files in lessons for each in read_sources(files).graded.values()]


# --- no answers


@pytest.mark.slow
def test_no_answer_of_any_lesson_is_in_the_bundle_or_a_document_of_the_website(
    lessons_bundle, exercises
):
    assert len(exercises) > 10
    documents = {name: (ROOT / name).read_bytes() for name in DOCUMENTS}
    assert find_leaks(lessons_bundle | documents, exercises) == QUOTED


def test_the_bundle_holds_what_is_wanted_and_no_more(lessons_bundle):
    folders = {name.split("/")[0] for name in lessons_bundle if "/" in name}
    assert folders == {"checks", "docs", "exercises", "notebooks", "src"}
    assert {name for name in lessons_bundle if "/" not in name} <= set(FILES)
    assert set(FILES) <= lessons_bundle.keys()
    for name in lessons_bundle:
        assert "__pycache__" not in name and "/." not in name
        assert not name.startswith(AUTHORS_CODE)
        assert (ROOT / name).exists(), name


# --- where it goes


def test_somebodys_work_and_what_else_lies_about_is_not_released(whole, notebook, tmp_path):
    notebook.answer("count_leaves", RIGHT).save()
    whole.progress_file.write_text("{}\n", encoding="utf-8")
    (whole.root / "src/pytree_course/.ipynb_checkpoints").mkdir()
    (whole.root / "src/pytree_course/.ipynb_checkpoints/x-checkpoint.py").write_text("x = 1")
    (whole.root / "notes.txt").write_text("mine")
    release(whole, tmp_path / "bundle")
    released = contents(tmp_path / "bundle")
    assert released == read_bundle(whole)
    assert RIGHT.encode() not in released["exercises/01_mini_exercises.ipynb"]
    handed_out = released["checks/expected/01_mini.ipynb"]
    assert released["exercises/01_mini_exercises.ipynb"] == handed_out
    assert not {"progress.jsonl", "notes.txt"} & released.keys()
    assert not any("checkpoint" in name for name in released)


def test_an_earlier_release_is_replaced_and_its_repository_and_all_else_is_kept(whole, tmp_path):
    folder = tmp_path / "bundle"
    (folder / ".git").mkdir(parents=True)  # as `git clone` of a new repository leaves it
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    first = release(whole, folder)
    (folder / "README.md").write_text("of the earlier release")
    (folder / ".gitignore").write_text("mine", encoding="utf-8")
    assert release(whole, folder) == first
    kept = {".git/HEAD": b"ref: refs/heads/main\n", ".gitignore": b"mine"}
    assert contents(folder) == read_bundle(whole) | kept

    (folder / "progress.jsonl").touch()
    with pytest.raises(CourseError, match="Somebody has worked"):
        release(whole, folder)
    (folder / "progress.jsonl").unlink()
    mine = ExerciseNotebook(folder / "exercises/01_mini_exercises.ipynb")
    mine.answer("count_leaves", "").save()
    with pytest.raises(CourseError, match=r"worked in .*01_mini_exercises\.ipynb"):
        release(whole, folder)
    assert mine.file.exists()
    for precious in (whole.root, tmp_path):
        with pytest.raises(CourseError, match="neither empty nor an earlier"):
            release(whole, precious)


def test_stale_files_are_not_released(whole, mini, tmp_path):
    text = mini.expected.read_text(encoding="utf-8")
    mini.expected.write_text(text.replace('"two"', '"too"'), encoding="utf-8")
    with pytest.raises(CourseError, match=r"01_mini\.json.*course\.py build 01_mini"):
        release(whole, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


# --- for Colab


@pytest.fixture(scope="module")
def colab(lessons_bundle):
    return for_colab(lessons_bundle, "ada/pytrees@spring")


def notebooks(files):
    return {name: content.decode() for name, content in files.items() if ".ipynb" in name}


def test_every_notebook_is_there_and_first_installs_the_course_and_asks_where_progress_goes(
    lessons_bundle, colab
):
    wanted = [name for name in notebooks(lessons_bundle) if not name.startswith("checks")]
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
        assert first["metadata"]["id"] == INSTALLED_ID  # where Colab keeps ids


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


# --- as a learner


def test_the_bundles_readme_speaks_of_nothing_that_is_not_in_it(lessons_bundle):
    readme = lessons_bundle["README.md"].decode()
    links = re.findall(r"\]\(([^)#:]+)\)", readme)
    rows = re.findall(r"^\| `([^`]+)`", readme, flags=re.MULTILINE)
    for name in links + rows:
        assert any(file == name or file.startswith(name) for file in lessons_bundle), name
    assert "For teachers" not in readme
    assert "## Begin" in readme
    assert "[Apache 2.0](LICENSE)" in readme


@pytest.mark.slow
def test_a_learner_works_through_the_bundle(whole, tmp_path):
    folder = tmp_path / "bundle"
    release(whole, folder)
    shutil.rmtree(whole.root)
    notebook = folder / "exercises" / "01_mini_exercises.ipynb"
    variables = {**os.environ, "PYTHONPATH": str(folder / "src")}

    ExerciseNotebook(notebook).answer("count_leaves", RIGHT).save()
    asks = ("check.count_leaves.solution()", "import pytree_course; print(pytree_course.__file__)")
    shown = outputs_of(notebook, variables, *asks)
    assert "1 of 3 points" in shown["count_leaves-check"]
    assert "This copy of the course does not include the solutions." in shown["more-0"]
    assert Path(shown["more-1"].strip()).is_relative_to(folder)

    line = [sys.executable, "-m", "pytree_course", "test"]
    tested = subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    notebooks = [
        nbformat.read(file, as_version=4)
        for file in (folder / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in file.parts
    ]
    code = [cell for notebook in notebooks for cell in notebook.cells if cell.cell_type == "code"]
    assert f" {len(code)} passed in" in tested.stdout
