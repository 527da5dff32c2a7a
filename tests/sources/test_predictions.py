"""Predictions: their options are shuffled, and the texts below follow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from pytree_course.built import hide_outputs
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.predictions import (
    show_on_slides,
    split_answer,
    with_closed_answer,
    with_open_answer,
)
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import edit

QUESTION, ANSWER = "leaves-are-not-elements-3", "leaves-are-not-elements-4"
PREDICTED = "{code-cell} ipython3\n:prediction: C\nlen(jax.tree.leaves([1, (2, 3)]))\n```\n"


def test_the_build_orders_the_options_and_the_text_below_names_them_by_their_new_letters(unbuilt):
    below = f"{PREDICTED}\n**C.** Not one (A), not two (B).\n"
    edit(unbuilt.sources / "lesson.md", PREDICTED, below)
    sources = read_sources(unbuilt)
    prediction = sources.predictions["leaves-are-not-elements-4"]
    assert sorted(prediction.options.values()) == ["1", "2", "3"]
    assert prediction.options[prediction.answer] == "3"
    by_option = {option: letter for letter, option in prediction.options.items()}
    question, below = [
        cell.source for cell in sources.lesson if cell.id in (QUESTION, "leaves-are-not-elements-5")
    ]
    assert all(f"- {letter}. {text}" in question for letter, text in prediction.options.items())
    assert below == f"**{by_option['3']}.** Not one ({by_option['1']}), not two ({by_option['2']})."


@pytest.mark.parametrize(
    ("below", "begins"),
    [
        ("Three, see `B`.", "**C.** Three, see `B`."),
        ("**C.** Three.", "**C.** Three."),
        ("> Three.", "**C.**\n\n> Three."),
        ("**Try.** One.", "**Try.** One."),
        ("Three.\n\n+++\n\nNot (A).", "**C.** Three."),
    ],
)
def test_the_text_below_a_prediction_begins_with_its_letter(unbuilt, below, begins):
    edit(unbuilt.sources / "lesson.md", PREDICTED, f"{PREDICTED}\n{below}\n")
    sources = read_sources(unbuilt)
    letter = sources.predictions[ANSWER].answer
    texts = [cell.source for cell in sources.lesson if cell.id == "leaves-are-not-elements-5"]
    assert texts == [begins.replace("**C.**", f"**{letter}.**")]


@pytest.mark.parametrize("bare", ["Then B counts.", "It is C, not two.", "(A) or D: both."])
def test_a_letter_that_the_build_would_not_change_is_refused(unbuilt, bare):
    edit(unbuilt.sources / "lesson.md", PREDICTED, f"{PREDICTED}\n{bare}\n")
    with pytest.raises(AuthorMistakesError, match="name an option as"):
        read_sources(unbuilt)


def test_a_prediction_knows_its_words_and_the_code_that_it_needs(unbuilt):
    more = "n = 3\n```\n\n```{code-cell} ipython3\n:tags: [raises-exception]\nn = n.x\n```\n\n◇"
    lesson = unbuilt.sources / "lesson.md"
    edit(lesson, "◇", "```{code-cell} ipython3\n" + more)
    edit(lesson, "jax.tree.leaves([1, (2, 3)]))\n```\n", "[1, (2, n)])\n```\n\nSo. {met}`a/b#1`\n")
    [prediction] = [each for each in read_sources(unbuilt).predictions.values() if each.options]
    assert prediction.question == "How many leaves has `[1, (2, 3)]`?"
    assert prediction.alone == "n = 3\n\nlen([1, (2, n)])"
    assert prediction.why.endswith("So.")


@given(st.text("ab\n ", min_size=1).filter(str.strip), st.sampled_from(["", "**Try.** One."]))
def test_what_was_folded_is_unfolded_again(answer, rest):
    text = f"{answer.strip()}\n\n{rest}".strip()
    assert with_open_answer(with_closed_answer(text)) == text


@pytest.mark.parametrize("rest", ["**Try.** One.", "◇ **Predict.** What?", "✎ **Write** it.", ""])
def test_an_explanation_ends_where_the_reader_is_asked_to_do_something(rest):
    assert split_answer(f"Three.\n\n{rest}") == ("Three.", rest)


def test_on_slides_answers_are_shown_and_the_widgets_that_ask_are_gone():
    answer = new_code_cell("1 + 1", id="two", outputs=[new_output("stream", text="2")])
    hide_outputs(answer)
    folded = new_markdown_cell(with_closed_answer("Two."), id="why")
    cells = [
        new_markdown_cell("# Lesson", id="title"),
        new_code_cell("predict()", id="two-predict"),
    ]
    shown, _ = show_on_slides(new_notebook(cells=[*cells, answer, folded]), {})
    assert [cell.id for cell in shown.cells] == ["title", "two", "why"]
    assert [output.text for output in shown.cells[1].outputs] == ["2"]
    assert shown.cells[2].source == "Two."
