"""What first cells load: nothing large that is not needed before there is an answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytree_course.course import Course
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

IN_NO_SET_UP = {
    "matplotlib": "a plot needs it",
    "nbformat": "only the build, grading and the server read notebooks",
    "jsonschema": "nbformat needs it",
    "sklearn": "lesson 5 imports it itself",
    "typer": "the command line needs it",
    "pytree_course.authoring": "only the author and the teacher need it",
    "pytree_course.grading": "only the teacher needs it",
}
IN_NO_EXERCISES_SET_UP = {"ipywidgets": "only a wrong answer's buttons need it"}

LESSONS = Course(ROOT).lessons()


def loaded_by(source: str, progress_folder) -> list[str]:
    """Return the modules that a new Python has loaded after it has run a source."""
    said = subprocess.run(
        [sys.executable, "-c", f"{source}\nimport sys; print('\\n', *sys.modules)"],
        cwd=ROOT / "exercises",
        env=os.environ | {"PYTREE_COURSE_PROGRESS": str(progress_folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.splitlines()[-1].split()


def set_up_of(file: Path) -> str:
    """Return the first cell of a notebook that imports the course."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return next(source for source in sources if "from pytree_course import" in source)


def test_the_set_up_cells_of_exercises_load_nothing_large(tmp_path):
    loaded = loaded_by("\n".join(set_up_of(files.exercises) for files in LESSONS), tmp_path)
    assert "pytree_course.notebook.progress_views" in loaded
    assert not {*IN_NO_SET_UP, *IN_NO_EXERCISES_SET_UP} & {*loaded}


def test_the_first_cells_of_lessons_load_nothing_large(tmp_path):
    lines = [line for files in LESSONS for line in set_up_of(files.notebook).splitlines()]
    loaded = loaded_by("\n".join(line for line in lines if "pytree_course" in line), tmp_path)
    assert "pytree_course.drawing" in loaded
    assert not {*IN_NO_SET_UP} & {*loaded}


def test_the_process_that_judges_a_class_loads_no_jax(tmp_path):
    modules = ("class_grading.grade_class", "judging.findings", "reports.pages")
    loaded = loaded_by("\n".join(f"import pytree_course.{name}" for name in modules), tmp_path)
    assert not {"jax", "jupytext", "nbformat"} & {*loaded}


def test_what_every_kernel_loads_is_next_to_nothing(tmp_path):
    loaded = loaded_by("import pytree_course.ipython", tmp_path)
    own = {name for name in loaded if name.startswith("pytree_course")}
    names = ("built", "course", "ipython", "nbgrader", "notebook", "texts")
    assert own == {"pytree_course", *(f"pytree_course.{name}" for name in names)}
    assert not {"ipywidgets", "jax", "jinja2"} & {*loaded}


def test_grading_and_building_load_no_grammars(tmp_path):
    write = "import nbformat; nbformat.writes(nbformat.v4.new_notebook())"
    imports = "import pytree_course.grading.grade, pytree_course.authoring.building"
    loaded = loaded_by(f"{imports}\n{write}", tmp_path)
    assert not [name for name in loaded if name.partition(".")[0] == "lark"]
