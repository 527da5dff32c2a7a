"""Predictions in a lesson: their options in a fixed, mixed order, and code that stands alone."""

import ast
import builtins
import dis
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import CodeType

from pytree_course.judging.expected import Prediction
from pytree_course.sources.source_cells import Mistake, SourceCell

PREDICTION = "◇"
"""Start of a prediction; the code cell after it holds the answer."""
OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
LETTERS = re.compile(r"\*\*[A-Z]\.\*\*|\([A-Z](?:, [A-Z])*\)")
"""Letters of options in Markdown: `**B.**`, `(A)`, `(A, C)`."""
BARE_LETTER = re.compile(r"(?<![\w`'\"*(:.])[B-F](?=[ ,:;.)](?![*`]))")
"""A letter written in another way; "A" may be a word."""
FOLD = "<details>\n<summary>The answer, and why</summary>\n\n"
FOLD_END = "\n\n</details>"
MAX_LINES = 8
"""A question that needs more lines of definitions is not asked outside its lesson."""
_CHANGES = re.compile(
    "register|append|extend|update|add|pop|insert|remove|sav|set|writ|clear|donat"
)
"""Beginnings of functions' names whose calls change their object or their first argument."""


def read_predictions(
    cells: list[SourceCell], mistakes: list[Mistake]
) -> tuple[dict[str, Prediction], list[SourceCell]]:
    """Read the predictions by the ids of their answers' cells; return the cells with new letters.

    The author writes options in any order. Their order in the notebook is drawn from the id of the
    answer's cell, so that it stays, and the letters in the text below it are changed with it.
    """
    predictions: dict[str, Prediction] = {}
    shown = list(cells)
    new_letters: dict[str, str] = {}  # by the author's letters; of the last prediction
    for index, (above, cell) in enumerate(pairwise(cells), 1):
        if cell.heading or cell.source.startswith(PREDICTION):
            new_letters = {}
        if cell.kind == "markdown":
            if new_letters:
                mistakes += _bare_letters(cell)
            shown[index] = replace(cell, source=_with_letters(cell.source, new_letters))
        elif _answers_prediction(cell, above, mistakes):
            letters = [letter for letter, _ in OPTION.findall(above.source)]
            order = random.Random(cell.id).sample(letters, len(letters))
            new_letters = dict(zip(order, letters, strict=True))
            prediction = _prediction(cells, index, new_letters)
            predictions[cell.id] = prediction
            shown[index - 1] = replace(above, source=_with_options(above.source, prediction))
    return predictions, shown


def _answers_prediction(cell: SourceCell, above: SourceCell, mistakes: list[Mistake]) -> bool:
    """Return whether a code cell answers the prediction above it; add to the mistakes."""
    is_asked = above.source.startswith(PREDICTION)
    answer = cell.metadata.get("prediction")
    options = dict(OPTION.findall(above.source))
    if answer is not None and not is_asked:
        why = f"it answers a prediction, but the cell above does not start with {PREDICTION}"
    elif is_asked and (answer is None or (options and answer not in options)):
        why = "the prediction needs its answer: `:prediction: B`, or the text to be written"
    else:
        return is_asked
    mistakes.append(cell.mistake(why))
    return False


def _prediction(cells: list[SourceCell], index: int, new_letters: dict[str, str]) -> Prediction:
    """Make the prediction whose answer is in the cell at an index, from the cells around it."""
    asking, cell = cells[index - 1], cells[index]
    texts = dict(OPTION.findall(asking.source))
    text = OPTION.sub("", asking.source).removeprefix(PREDICTION).replace("**Predict.**", "")
    question = " ".join(text.split())
    answer = str(cell.metadata["prediction"])
    code_above = [earlier.source for earlier in cells[:index] if earlier.kind == "code"]
    why = ""
    for below in cells[index + 1 : index + 2]:
        if below.kind == "markdown" and not below.heading:
            why = _with_letters(split_answer(below.source)[0], new_letters)
    return Prediction(
        question,
        options={new: texts[old] for old, new in new_letters.items()},
        answer=new_letters.get(answer, answer),
        code=cell.source,
        alone=standing_alone(cell.source, question, code_above),
        why=why,
    )


def _with_options(question: str, prediction: Prediction) -> str:
    """Return a question's text with the options in their new order."""
    return OPTION.sub(lambda line: f"- {line[1]}. {prediction.options[line[1]]}", question)


def _bare_letters(cell: SourceCell) -> list[Mistake]:
    """Return the mistake of naming an option in a way in which the build does not change it."""
    bare = BARE_LETTER.search(LETTERS.sub("", cell.source))
    if bare is None:
        return []
    why = f"name an option as ({bare[0]}) or **{bare[0]}.**, for the build changes letters"
    return [cell.mistake(why)]


def _with_letters(text: str, new_letters: dict[str, str]) -> str:
    """Replace the letters of options in a string by those in the notebook."""

    def renamed(match: re.Match[str]) -> str:
        letters = [new_letters.get(letter, letter) for letter in re.findall("[A-Z]", match[0])]
        if match[0].startswith("**"):
            return f"**{letters[0]}.**"
        return f"({', '.join(sorted(letters))})"

    return LETTERS.sub(renamed, text)


def split_answer(text: str) -> tuple[str, str]:
    """Split the text below a prediction's cell into the answer's explanation and what follows."""
    next_part = re.search(r"^(\*\*Try\.\*\*|◇)", text, re.MULTILINE)
    end = next_part.start() if next_part else len(text)
    return text[:end].strip(), text[end:]


def with_closed_answer(text: str) -> str:
    """Fold the answer below a prediction's cell; suggestions and the next prediction stay open."""
    answer, rest = split_answer(text)
    return f"{FOLD}{answer}{FOLD_END}\n\n{rest}".strip() if answer else text


def with_open_answer(text: str) -> str:
    """Undo `with_closed_answer`."""
    return text.replace(FOLD, "").replace(FOLD_END, "")


def standing_alone(code: str, question: str, cells_above: Sequence[str]) -> str | None:
    """Return code below the statements that define the names used by it and by its question.

    Imports count as known. None if a name is not defined above, or too many lines are needed.
    """
    compiled = _compiled(code)
    if compiled is None:
        return None
    above = [statement for cell in cells_above for statement in _statements(cell)]
    bound_above = {name for statement in above for name in statement.binds}
    imported = {name for statement in above if statement.is_import for name in statement.binds}
    known = {*dir(builtins), "__annotations__", *imported}
    defined, wanted = _names(compiled)
    for quoted in re.findall(r"`([^`]+)`", question):
        if in_question := _compiled(quoted):
            wanted |= (_names(in_question)[1] & bound_above) - defined
    wanted -= known
    definitions: list[str] = []
    for statement in reversed(above):
        if not statement.is_import and wanted & statement.binds:
            # A statement that changes an object, as `tree["w"] = 1` does, reads its name: the
            # object's definition is wanted too.
            wanted = (wanted - statement.binds) | (statement.reads - known)
            definitions.insert(0, statement.source)
    lines = sum(len(definition.splitlines()) for definition in definitions)
    return None if wanted or lines > MAX_LINES else "\n".join([*definitions, code])


@dataclass(frozen=True)
class _Statement:
    """A statement on the top level of a cell."""

    source: str
    is_import: bool
    binds: set[str]  # the names that it defines, and those of objects that it changes
    reads: set[str]  # the names that it reads before it defines them


def _statements(cell: str) -> Iterator[_Statement]:
    if _compiled(cell) is None:
        return
    for node in ast.parse(cell).body:
        # Decorators are above the line of their function.
        first = min(getattr(part, "lineno", node.lineno) for part in ast.walk(node))
        source = "\n".join(cell.splitlines()[first - 1 : node.end_lineno])
        defined, reads = _names(compile(ast.Module([node], []), "<cell>", "exec"))
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        yield _Statement(source, is_import, defined | _changed(node), reads)


def _compiled(source: str) -> CodeType | None:
    """Return a cell's code; None if it is not Python, such as a magic of IPython's."""
    try:
        return compile(source, "<cell>", "exec")
    except SyntaxError:
        return None


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code defines in its own scope, and those that it reads before that."""
    defined: set[str] = set()
    read: set[str] = set()
    for instruction in dis.get_instructions(code):
        match instruction.opname, instruction.argval:
            case "STORE_NAME", name:
                defined.add(name)
            case (("LOAD_NAME" | "LOAD_GLOBAL"), name):
                read |= {name} - defined
            case _, CodeType() as inner:
                # A function or class may name itself.
                read |= _names(inner)[1] - defined - {inner.co_name}
    return defined, read


def _changed(node: ast.stmt) -> set[str]:
    """Return the names of objects that a statement changes by an assignment or a call."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return set()
    changed: list[ast.AST] = [
        part
        for target in ast.walk(node)
        if isinstance(target, ast.Subscript | ast.Attribute) and isinstance(target.ctx, ast.Store)
        for part in ast.walk(target.value)
    ]
    call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    match call:
        case ast.Call(func=ast.Attribute(attr=name, value=owner)) if _CHANGES.match(name):
            changed += [*ast.walk(owner), *call.args[:1]]
        case ast.Call(func=ast.Name(id=name)) if _CHANGES.match(name):
            changed += call.args[:1]
    return {part.id for part in changed if isinstance(part, ast.Name)}
