"""What decides an exercise's results is digested: words may change, and no grade is asked again."""

import pytest

from pytree_course.sources.deciding import used_code
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

SCRIPT = '''"""Checks."""
import jax
import numpy as np
from a import b as c, d

@check
def f(answer):
    return helper(answer) + LIMIT

LIMIT = 1
OTHER = 2
@decorated
class Made:
    size = c.OTHER

def helper(a):
    return Made(a), np
register(1)
'''
HELPER = "def helper(a):\n    return Made(a), np"
MADE = "@decorated\nclass Made:\n    size = c.OTHER"


def test_a_definition_needs_what_it_names_by_way_of_others_too():
    used = [": numpy as np", "a: b as c", "LIMIT = 1", MADE, HELPER, "register(1)"]
    check = "@check\ndef f(answer):\n    return helper(answer) + LIMIT"
    assert used_code(SCRIPT, "f") == [*used[:2], check, *used[2:]]
    assert used_code(SCRIPT, "OTHER") == ["OTHER = 2", "register(1)"]


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("exercises.md", "Prompt.", "Other words.", []),
        ("exercises.md", '"two"', '"too"', []),
        ("exercises.md", "## The first leaf", "## One leaf", []),
        ("answers.py", "You counted nodes.", "You did.", []),
        ("exercises.md", "points: 1", "points: 2", ["count_leaves"]),
        ("exercises.md", "return len(jax.tree.leaves(tree))", "return 1", ["count_leaves"]),
        ("exercises.md", "Return the first leaf of", "Return one leaf of", ["first_leaf"]),
        ("exercises.md", "import jax\n", "import jax, math\n", ["count_leaves", "first_leaf"]),
        ("../../checks/check_01_mini.py", "[3.5, (1, 2)]", "[4.5]", ["first_leaf"]),
        ("../../checks/check_01_mini.py", "import Case,", "import Case, acyclic,", []),
    ],
)
def test_a_digest_changes_with_what_decides_results_or_points(unbuilt, file, old, new, changed):
    before = read_sources(unbuilt).deciding_digests
    edit(unbuilt.sources / file, old, new)
    after = read_sources(unbuilt).deciding_digests
    assert [name for name in after if after[name] != before[name]] == changed
