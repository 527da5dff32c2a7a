"""What notebooks import from pytree_course stands in one table, which weighs nothing."""

import ast
import subprocess
import sys

import pytest

import pytree_course
from pytree_course.authoring.notebooks import OUTPUT_LINES
from pytree_course.course import Course
from pytree_course.notebook import NAMES
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT

PAGES = Course(ROOT).with_sources()


def imported(source):
    """Return the names that a cell imports from pytree_course."""
    lines = [line for line in source.splitlines() if line.startswith("from pytree_course import")]
    return [alias.name for line in lines for alias in ast.parse(line).body[0].names]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_where_the_table_says(name):
    assert callable(getattr(pytree_course, name))


@pytest.mark.parametrize("files", PAGES, ids=lambda files: files.stem)
def test_every_name_that_a_notebook_imports_is_in_the_table(files):
    sources = read_sources(files)
    cells = [*sources.lesson, *sources.exercise_cells]
    names = [name for cell in cells for name in imported(cell.source)]
    assert names
    assert set(names) <= set(NAMES)


def test_slides_know_how_tall_outputs_are():
    assert OUTPUT_LINES.keys() - {"print"} < NAMES.keys()


def test_the_table_is_plain_data():
    heavy = "{'IPython', 'ipywidgets', 'jax', 'jinja2'}"
    code = f"import sys, pytree_course.notebook; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
