"""An appeal: what decided a mark is in the gradebook, and the answer is graded again."""

import pytest

from pytree_course.authoring.building import build
from tests.conftest import edit
from tests.made_submissions import ELEMENTS, RIGHT


@pytest.fixture
def appeal(quick, course_py):
    """Grade ada and bob; return a function that hears an appeal, and returns what is printed."""
    quick.hand_in("ada", RIGHT)
    quick.hand_in("bob", ELEMENTS)
    quick.grade()

    def hear(*of):
        heard = course_py("appeal", quick.into, *of, "--unsandboxed")
        return heard.returncode, " ".join((heard.stdout + heard.stderr).split())

    return hear


def test_an_appeal_shows_answer_cases_and_versions_and_agrees(appeal):
    status, said = appeal("bob", "1", "count_leaves")
    assert status == 0
    assert "incorrect, wrong in " in said
    assert "Made with course 0.1.0, exercise and check " in said
    assert "def count_leaves(tree): return len(tree)" in said
    assert "given [1, [[2], 3], None, (), ()] expected 3 came out 5" in said
    assert "it comes out the same: incorrect" in said
    assert "the environment are the same as then." in said
    _, said = appeal("ada", "1", "count_leaves")
    assert "it comes out the same: correct" in said


def test_after_a_changed_check_an_appeal_says_what_differs(appeal, mini):
    case = "    yield Case(as_int(answer), [None])\n"
    edit(mini.check_script, case, case + case)
    build(mini)
    status, said = appeal("bob", "1", "count_leaves")
    assert status == 1
    assert "it comes out differently: incorrect, wrong in " in said
    assert "Since then, another exercise and check: " in said


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (("gus", "1", "count_leaves"), "no student is called 'gus'"),
        (("ada", "1", "paths"), "Graded were: count_leaves, first_leaf"),
    ],
)
def test_an_appeal_against_nothing_is_refused_with_the_reason(appeal, of, why):
    status, said = appeal(*of)
    assert status == 2
    assert why in said
