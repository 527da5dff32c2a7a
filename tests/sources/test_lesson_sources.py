"""A lesson's sources: the core, the deeper sections, the exercises, and how long they take."""

from dataclasses import replace

import pytest

from pytree_course.authoring.validation import find_mistakes_in_text
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import edit

LEARNED = "Leaves are what is at the ends."


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


def test_a_section_has_the_facts_that_progress_depends_on(unbuilt):
    sources = read_sources(unbuilt)
    facts = {slug: (each.minutes, each.deeper) for slug, each in sources.sections.items()}
    assert facts == {
        "mini": (0, False),  # the title and the imports
        "leaves-are-not-elements": (1, False),
        "what-you-learned": (1, False),
        "none-is-no-leaf": (1, True),
        "counting-without-a-list": (1, True),
    }
    asked = [each.predictions for each in sources.sections.values() if each.predictions]
    assert asked == [["leaves-are-not-elements-4"], ["counting-without-a-list-4"]]
    core = sources.layers
    assert (core.core_minutes, core.core_with_everything) == (2, 3)
    hidden = replace(core.core[0].cells[-1], metadata={"tags": ["hide-input"]}, source="x\n" * 99)
    folded = replace(core.core[0], cells=[*core.core[0].cells, hidden])
    assert folded.minutes == core.core[0].minutes  # nobody has to read it
    assert (sources.practice_digest, [*sources.graded]) == ("", ["count_leaves", "first_leaf"])


SAME_ID = "## Leaves are not elements\n\na\n\n+++\n\nb\n\n+++\n\nc\n\n+++\n\nText on"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("exercises.md", "exercise: first_leaf", "exercise: count_leaves", "two exercises 'count"),
        ("deeper/none-is-no-leaf.md", "Text on", SAME_ID, "'leaves-are-not-elements-4' is the id"),
    ],
)
def test_what_is_there_twice_is_refused(unbuilt, file, old, new, message):
    edit(unbuilt.sources / file, old, new)
    with pytest.raises(AuthorMistakesError, match=message):
        read_sources(unbuilt)
