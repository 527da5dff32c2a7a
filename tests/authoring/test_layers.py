"""The layers of a lesson: a short core, and deeper sections, each a notebook that stands alone."""

import pytest

from pytree_course.authoring.building import build
from pytree_course.authoring.notebooks import render_notebooks
from pytree_course.authoring.validation import find_mistakes_in_text
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

LEARNED = "Leaves are what is at the ends."
COUNTING = "deeper/counting-without-a-list.md"
LINK = "- [Counting without a list](deeper/01_mini/counting-without-a-list.ipynb)\n"


def test_a_lesson_is_a_core_and_the_deeper_sections_that_it_lists(unbuilt):
    parts = read_sources(unbuilt).layers
    assert [each.title for each in parts.core] == ["Leaves are not elements", "What you learned"]
    assert [(each.title, each.for_whom) for each in parts.deeper] == [  # as they are listed
        ("None is no leaf", "you meet trees with None"),
        ("Counting without a list", "you count leaves"),
    ]
    assert [cell.source for cell in parts.opening] == ["# Mini", "import jax"]
    # A lesson without deeper sections may be as long as it likes.
    lesson = unbuilt.sources / "lesson.md"
    core, _, _ = lesson.read_text("utf-8").partition("# Going deeper")
    lesson.write_text(core.replace(LEARNED, 3000 * "much "), "utf-8")
    assert find_mistakes_in_text(read_sources(unbuilt)) == []


def test_the_lesson_and_the_section_say_how_long_it_takes_and_for_whom_it_is(unbuilt):
    lesson = unbuilt.sources / "lesson.md"
    edit(lesson, "# Mini", "# Mini\n\n{with everything} minutes, of which {reading} are reading.")
    edit(lesson, LEARNED, "**Try.** " + 300 * "much ")
    core, _, deep = render_notebooks(read_sources(unbuilt)).values()
    assert core.cells[0].source.endswith("8 minutes, of which 3 are reading.")
    about = "about 2 minutes. For you if you count leaves."
    assert f"{LINK.strip()}: {about}" in core.cells[-1].source
    assert deep.cells[0].source.startswith("# Counting without a list\n\n*About 2 minutes")
    assert "[Mini](../../../notebooks/01_mini.ipynb)" in deep.cells[0].source
    assert "01_mini.ipynb#Going-deeper" in deep.cells[-1].source
    ids = [cell.id.removeprefix("counting-without-a-list-") for cell in deep.cells]
    assert ids == ["1", "installed", "imports", "2", "3", "4-predict", "4", "end"]


def test_minutes_are_counted_in_words_lines_of_code_predictions_trys_and_exercises(unbuilt):
    words = f"{298 * 'word '}\n\n**Try.** That."
    code = "```{code-cell} ipython3\n:prediction: A\n" + 24 * "x = 1\n" + "```"
    facts = ":exercise: step\n:minutes: 7\n:stars: 1\n:hints: [one, two]"
    step = f"```{{code-cell}} ipython3\n{facts}\ndef step(): ...\n```"
    asked = f"{words}\n\n+++\n\n◇ Which?\n\n- A. a\n- B. b\n\n{code}\n\n✎\n\n{step}"
    edit(unbuilt.sources / "lesson.md", LEARNED, asked)
    (_, learned) = read_sources(unbuilt).layers.core
    assert learned.minutes == 4  # 2 for the words, 2 for the lines
    assert learned.trying == 5
    assert learned.all_minutes == 4 + 5 + 7


@pytest.mark.slow
def test_only_what_is_stale_is_built(mini):
    counting = "notebooks/deeper/01_mini/counting-without-a-list.ipynb"

    def told(**how) -> list[str]:
        steps: list[str] = []
        build(mini, steps.append, **how)
        return steps[1:]

    assert not build(mini)
    assert told() == []
    edit(mini.sources / "lesson.md", "[1, 2]", "[1, 3]")
    edit(mini.sources / COUNTING, "(2, None)", "(2, 3)")
    assert told() == ["running notebooks/01_mini.ipynb", f"running {counting}"]
    edit(mini.sources / COUNTING, "Text", "Other text")
    assert told() == [f"running {counting}"]
    (mini.sources / COUNTING).unlink()
    edit(mini.sources / "lesson.md", LINK, "")
    _, *steps = told(again=True)
    assert steps == [
        "running the solutions",
        "running notebooks/01_mini.ipynb",
        "running notebooks/deeper/01_mini/none-is-no-leaf.ipynb",
        "deleting counting-without-a-list.ipynb, which no longer has a source",
    ]
    assert [file.name for file in mini.deeper_notebooks.iterdir()] == ["none-is-no-leaf.ipynb"]
