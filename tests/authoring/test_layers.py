"""The layers of a lesson: a short core, and deeper sections, each a notebook that stands alone."""

import pytest

from pytree_course.authoring.building import build
from pytree_course.authoring.notebooks import render_notebooks
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

LEARNED = "Leaves are what is at the ends."
COUNTING = "deeper/counting-without-a-list.md"
LINK = "- [Counting without a list](deeper/01_mini/counting-without-a-list.ipynb)\n"


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
