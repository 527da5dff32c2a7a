"""A lesson's predictions: read them, shuffle their options, fold and show their answers."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pytree_course.built import MEANT_TO_FAIL, PREDICT_ENDING, hides_outputs, show_outputs
from pytree_course.judging.expected import LETTERS, Prediction, with_letters
from pytree_course.public_reports import without_citations
from pytree_course.sources.exercises import WRITE
from pytree_course.sources.needed_code import make_standalone
from pytree_course.sources.source_cells import SourceCell

if TYPE_CHECKING:
    from nbformat import NotebookNode

PREDICTION = "◇"
"""Start of a prediction; the code cell after it holds the answer."""
OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
BARE_LETTER = re.compile(r"(?<![\w`'\"*(:.])[B-F](?=[ ,:;.)](?![*`]))")
"""A letter written in another way; "A" may be a word."""
FOLD = "<details>\n<summary>The answer, and why</summary>\n\n"
FOLD_END = "\n\n</details>"


def read_predictions(cells: list[SourceCell]) -> dict[str, Prediction]:
    """Read the predictions, with their options shuffled, by the ids of their answers' cells."""
    return {
        cell.id: _prediction(cells, index)
        for index, (asking, cell) in enumerate(pairwise(cells), 1)
        if cell.kind == "code" and _answers_prediction(cell, asking)
    }


def with_shuffled_options(
    cells: list[SourceCell], predictions: Mapping[str, Prediction]
) -> list[SourceCell]:
    """Return cells with the predictions' options shuffled, and new letters in the texts below."""
    rewritten = list(cells)
    new_letters: dict[str, str] = {}  # of the latest prediction, by the author's letters
    for index, (above, cell) in enumerate(pairwise(cells), 1):
        if cell.heading or cell.source.startswith(PREDICTION):
            new_letters = {}
        if cell.id in predictions:
            new_letters = _new_letters(above, cell)
            rewritten[index - 1] = _with_options(above, predictions[cell.id])
        elif cell.kind == "markdown" and new_letters:
            _refuse_bare_letter(cell)
            source = with_letters(cell.source, new_letters)
            if above.id in predictions and split_answer(source)[0]:
                source = _with_letter_first(source, predictions[above.id].answer)
            rewritten[index] = replace(cell, source=source)
    return rewritten


def _new_letters(asking: SourceCell, cell: SourceCell) -> dict[str, str]:
    """Return the options' letters by the author's, in their new order.

    The id of the answer's cell determines the order, so that each build gives the same.
    """
    letters = [letter for letter, _ in OPTION.findall(asking.source)]
    shuffled = random.Random(cell.id).sample(letters, len(letters))
    return dict(zip(shuffled, letters, strict=True))


def _answers_prediction(cell: SourceCell, above: SourceCell) -> bool:
    is_asked = above.source.startswith(PREDICTION)
    answer = cell.metadata.get("prediction")
    options = dict(OPTION.findall(above.source))
    if answer is not None and not is_asked:
        cell.refuse(f"it answers a prediction, but the cell above does not start with {PREDICTION}")
    if is_asked and (answer is None or (options and answer not in options)):
        cell.refuse("the prediction needs its answer: `:prediction: B`, or the text to be written")
    return is_asked


def _prediction(cells: list[SourceCell], index: int) -> Prediction:
    """Read the prediction whose answer is in the cell at an index, from the cells around it."""
    asking, cell = cells[index - 1], cells[index]
    text = OPTION.sub("", asking.source).removeprefix(PREDICTION).replace("**Predict.**", "")
    question = " ".join(text.split())
    # A cell that raises defines nothing, and a reader has to find the lesson's solutions.
    code_above = [
        above.source
        for above in cells[:index]
        if above.kind == "code"
        and "BEGIN SOLUTION" not in above.source
        and MEANT_TO_FAIL not in above.metadata.get("tags", ())
    ]
    as_written = Prediction(
        question,
        options=dict(OPTION.findall(asking.source)),
        answer=str(cell.metadata["prediction"]),
        alone=make_standalone(cell.source, question, code_above),
        why=_explanation(cells[index + 1 :]),
    )
    return as_written.reordered([*_new_letters(asking, cell)])


def _explanation(cells_below: Sequence[SourceCell]) -> str:
    """Return the explanation below a prediction's answer; "" if there is none."""
    if not cells_below or cells_below[0].kind != "markdown" or cells_below[0].heading:
        return ""
    return without_citations(split_answer(cells_below[0].source)[0])


def _with_options(asking: SourceCell, prediction: Prediction) -> SourceCell:
    """Return a question's cell with the options in their new order."""
    options = prediction.options
    text = OPTION.sub(lambda option: f"- {option[1]}. {options[option[1]]}", asking.source)
    return replace(asking, source=text)


def _with_letter_first(text: str, letter: str) -> str:
    """Begin the text below an answer's cell with the right letter, unless it does."""
    if text.startswith(f"**{letter}.**"):
        return text
    between = "\n\n" if text.startswith((">", "|", "-", "`")) else " "
    return f"**{letter}.**{between}{text}"


def _refuse_bare_letter(cell: SourceCell) -> None:
    """Refuse a text that names an option in a form that the build does not change."""
    if bare := BARE_LETTER.search(LETTERS.sub("", cell.source)):
        cell.refuse(
            f"name an option as ({bare[0]}) or **{bare[0]}.**, for the build changes letters"
        )


def split_answer(text: str) -> tuple[str, str]:
    """Split the text below a prediction's cell into the explanation and what follows it.

    Suggestions to try follow it, the next prediction or something to write, with which the text may
    begin.
    """
    next_part = re.search(rf"^(\*\*Try\.\*\*|{PREDICTION}|{WRITE})", text, re.MULTILINE)
    end = next_part.start() if next_part else len(text)
    return text[:end].strip(), text[end:]


def with_closed_answer(text: str) -> str:
    """Fold the explanation below a prediction's cell; what follows stays open."""
    answer, rest = split_answer(text)
    return f"{FOLD}{answer}{FOLD_END}\n\n{rest}".strip() if answer else text


def with_open_answer(text: str) -> str:
    """Undo `with_closed_answer`."""
    return text.replace(FOLD, "").replace(FOLD_END, "")


def show_on_slides(
    notebook: "NotebookNode", resources: dict[str, Any]
) -> tuple["NotebookNode", dict[str, Any]]:
    """Show the answers, and remove the widgets that ask: nbconvert calls this for slides.

    On slides, an answer is a fragment of its own; nothing can be clicked.
    """
    cells = [cell for cell in notebook.cells if not cell.get("id", "").endswith(PREDICT_ENDING)]
    for cell in cells:
        if hides_outputs(cell):
            show_outputs(cell)
        elif cell.cell_type == "markdown":
            cell.source = with_open_answer(cell.source)
    notebook.cells = cells
    return notebook, resources
