"""What notebooks import from pytree_course stands in one table, which weighs nothing."""

import subprocess
import sys

import pytest

import pytree_course
from pytree_course.authoring.notebooks import OUTPUT_LINES
from pytree_course.notebook import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_where_the_table_says(name):
    assert callable(getattr(pytree_course, name))


def test_slides_know_how_tall_outputs_are():
    assert OUTPUT_LINES.keys() - {"print"} < NAMES.keys()


def test_the_table_is_plain_data():
    heavy = "{'IPython', 'ipywidgets', 'jax', 'jinja2'}"
    code = f"import sys, pytree_course.notebook; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
