"""A right answer that would not stand alone in grading has a warning, before it is handed in."""

import shutil

import pytest

from pytree_course.judging.expected import BuiltLesson
from pytree_course.notebook.missing import missing_in_grading
from tests import made_submissions
from tests.conftest import ROOT
from tests.test_executed_cells import run  # noqa: F401

RIGHT, FIRST = made_submissions.RIGHT.values()
ANSWER, SET_UP = "count_leaves-answer", "import jax\ncheck = 1"
HELPED = "def count_leaves(tree):\n    return len(helper(tree))"
HELPER = "import jax\ndef helper(tree):\n    return jax.tree.leaves(tree)"
MATH, SINE = "\nimport math", f"{RIGHT} + int(math.sin(0))"
ALONE = {  # what runs before the check, by its cell
    "in its cell": ({ANSWER: RIGHT}, ""),
    "with what it needs": ({ANSWER: f"%%time\n{HELPER}\n{HELPED}"}, ""),
    "with a star": ({ANSWER: RIGHT.replace("def", "from jax.tree import *\ndef")}, ""),
    "with the course's packages": ({ANSWER: f"import sklearn, optax\n{RIGHT}"}, ""),
    "with Python's own": ({ANSWER: f"import os.path\n{RIGHT}"}, ""),
    "with the course": ({ANSWER: f"from pytree_course import draw\n{RIGHT}"}, ""),
    "in a new cell": ({ANSWER: "", "new": RIGHT}, "is not in the answer cell above"),
    "with a function of another cell": ({"new": HELPER, ANSWER: HELPED}, "`helper` is missing"),
    "with the set-up cell's import": ({"setup": SET_UP + MATH, ANSWER: SINE}, "`math` is missing"),
    "with a file": ({ANSWER: f"import aside\n{RIGHT}"}, "`aside` is missing: it is no package"),
    "with a part of a file": ({ANSWER: f"from aside import x\n{RIGHT}"}, "`aside` is missing: it"),
    "without ids, in a new cell": ({"setup": "", None: f"{SET_UP}\n{RIGHT}"}, ""),
}


@pytest.fixture
def warned(course, run, monkeypatch):  # noqa: F811
    """Return a function that runs cells, and says what the check of an exercise warns of."""
    (course.root / "aside.py").write_text("x = 1")
    monkeypatch.syspath_prepend(course.root)
    shutil.copy(ROOT / "requirements.txt", course.root)
    files = course.lesson("01_mini")
    graded = BuiltLesson.read(files.expected).graded

    def warn(cells, exercise="count_leaves"):
        for cell_id, source in ({"setup": SET_UP} | cells).items():
            assert run(source, cell_id).success
        return missing_in_grading(files, graded, graded[exercise])

    return warn


@pytest.mark.parametrize(("cells", "warning"), ALONE.values(), ids=ALONE)
def test_an_answer_that_would_not_stand_alone_is_warned_of(warned, cells, warning):
    assert len(warned(cells)) == bool(warning)
    assert warning in "".join(warned(cells))


def test_an_earlier_answer_may_help_a_later_one(warned):
    helped = FIRST.replace("jax.tree.leaves", "helper")
    cells = {ANSWER: f"{HELPER}\n{HELPED}", "first_leaf-answer": helped}
    assert warned(cells, "first_leaf") == []
