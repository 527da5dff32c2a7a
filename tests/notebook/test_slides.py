"""A lesson on slides: answers come one by one, and nothing can be clicked."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from pytree_course.built import hide_outputs
from pytree_course.notebook.slides import ShowAnswers
from pytree_course.sources.predictions import with_closed_answer


def test_answers_are_shown_and_the_widgets_that_ask_are_gone():
    answer = new_code_cell("1 + 1", id="two", outputs=[new_output("stream", text="2")])
    hide_outputs(answer)
    folded = new_markdown_cell(with_closed_answer("Two."), id="why")
    cells = [
        new_markdown_cell("# Lesson", id="title"),
        new_code_cell("predict()", id="two-predict"),
    ]
    shown, _ = ShowAnswers().preprocess(new_notebook(cells=[*cells, answer, folded]), {})
    assert [cell.id for cell in shown.cells] == ["title", "two", "why"]
    assert [output.text for output in shown.cells[1].outputs] == ["2"]
    assert shown.cells[2].source == "Two."
