"""Predictions in a lesson: read the questions, and put their options in a fixed, mixed order."""

import random
import re
from dataclasses import replace
from itertools import pairwise

from pytree_course.judging.expected import Prediction
from pytree_course.sources.source_cells import Mistake, SourceCell
from pytree_course.sources.source_texts import split_answer
from pytree_course.sources.standalone import standing_alone

PREDICTION = "◇"
"""What a prediction starts with; the code cell after it holds the answer."""
OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
LETTERS = re.compile(r"\*\*[A-Z]\.\*\*|\([A-Z](?:, [A-Z])*\)")
"""How a text names options: `**B.**`, `(A)`, `(A, C)`."""
BARE_LETTER = re.compile(r"(?<![\w`'\"*(:.])[B-F](?=[ ,:;.)](?![*`]))")
"""An option that a text names in another way; "A" may be a word."""


def read_predictions(
    cells: list[SourceCell], mistakes: list[Mistake]
) -> tuple[dict[str, Prediction], list[SourceCell]]:
    """Read the predictions by the ids of their answers' cells; return the cells with new letters.

    The author writes options in any order. Their order in the notebook is drawn from the id of the
    answer's cell, so that it stays, and the letters in the text below it are changed with it.
    """
    predictions: dict[str, Prediction] = {}
    shown = list(cells)
    new_letters: dict[str, str] = {}  # by the author's; of the last prediction
    for at, (above, cell) in enumerate(pairwise(cells), 1):
        if cell.heading or cell.source.startswith(PREDICTION):
            new_letters = {}
        if cell.kind == "markdown":
            if new_letters and (bare := BARE_LETTER.search(LETTERS.sub("", cell.source))):
                why = f"name an option as ({bare[0]}) or **{bare[0]}.**, for the build changes letters"
                mistakes.append(cell.mistake(why))
            shown[at] = replace(cell, source=_with_letters(cell.source, new_letters))
            continue
        asked = above.source.startswith(PREDICTION)
        answer = cell.metadata.get("prediction")
        if not asked and answer is None:
            continue
        options = dict(OPTION.findall(above.source))
        if not asked:
            why = f"it answers a prediction, but the cell above does not start with {PREDICTION}"
            mistakes.append(cell.mistake(why))
        elif answer is None or (options and answer not in options):
            why = "the prediction needs its answer: `:prediction: B`, or the text to be written"
            mistakes.append(cell.mistake(why))
        else:
            order = random.Random(cell.id).sample(list(options), len(options))
            new_letters = dict(zip(order, options, strict=True))
            options = {new_letters[old]: options[old] for old in order}
            lines = iter(f"- {letter}. {text}" for letter, text in options.items())
            asked_text = OPTION.sub(lambda _, lines=lines: next(lines), above.source)
            shown[at - 1] = replace(above, source=asked_text)
            question = OPTION.sub("", above.source).removeprefix(PREDICTION)
            question = " ".join(question.replace("**Predict.**", "").split())
            answer = new_letters.get(str(answer), str(answer))
            code = [each.source for each in cells[:at] if each.kind == "code"]
            below = cells[at + 1] if at + 1 < len(cells) else None
            why = ""
            if below and below.kind == "markdown" and not below.heading:
                why = _with_letters(split_answer(below.source)[0], new_letters)
            predictions[cell.id] = Prediction(
                question,
                options,
                answer,
                code=cell.source,
                alone=standing_alone(cell.source, question, code),
                why=why,
            )
    return predictions, shown


def _with_letters(text: str, new: dict[str, str]) -> str:
    """Write the letters of options in a text as they are in the notebook."""

    def changed(named: re.Match[str]) -> str:
        letters = re.sub("[A-Z]", lambda letter: new.get(letter[0], letter[0]), named[0])
        listed = re.findall("[A-Z]", letters)
        return f"({', '.join(sorted(listed))})" if len(listed) > 1 else letters

    return LETTERS.sub(changed, text)
