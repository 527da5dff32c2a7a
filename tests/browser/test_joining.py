"""A class in JupyterLab: what the teacher says and asks comes under a check."""

import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Visit
from tests.class_server import CODE, QUESTION, Room, wait_for
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

CELLS = {
    "set-up": 'import jax\nfrom pytree_course import Checks, join\ncheck = Checks("01_leaves")',
    "answer": "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))",
    "check": "check.count_leaves(count_leaves)",
}


@pytest.fixture
def room():
    room = Room()
    room.start()
    yield room
    room.kill()


def test_a_vote_is_answered_by_keyboard_and_can_be_changed(visit: Visit, room: Room):
    joining = {"join": f'join("{room.address}", "{CODE}", "Ada")'}
    visit.lab.write("exercises/class.ipynb", CELLS | joining)
    notebook = visit.open("exercises/class.ipynb")
    notebook.run("set-up", "answer", "join")
    notebook.output("join").get_by_text("You are in the class as Ada").wait_for()

    room.news = {"note": {"number": 4, "text": "Ten more minutes."}, "vote": QUESTION}
    shown = notebook.output("check")

    def checked() -> int:
        notebook.run("check")
        return shown.get_by_text("Ten more minutes.").count()

    wait_for(checked)
    shown.get_by_text("How many leaves does JAX see here?").wait_for()
    shown.get_by_role("button", name="A", exact=True).press("Space")
    shown.get_by_text("Your vote is A.").wait_for()
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    shown.get_by_text("Your vote is B.").wait_for()
    assert room.ballots == [(7, "A"), (7, "B")]
    assert_accessible(notebook, 3)
