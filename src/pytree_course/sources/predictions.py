"""Predictions in a lesson: their options in a fixed, mixed order, and code that stands alone."""

import ast
import builtins
import dis
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import CodeType

from pytree_course.judging.expected import Prediction
from pytree_course.sources.source_cells import Mistake, SourceCell

_IMPORT = (ast.Import, ast.ImportFrom)
MAX_LINES = 8
"""A question that needs more lines of definitions is not asked outside its lesson."""
_CHANGES = re.compile(
    "register|append|extend|update|add|pop|insert|remove|sav|set|writ|clear|donat"
)
"""Beginnings of functions' names whose calls change what they are given."""


def standing_alone(code: str, question: str, above: Sequence[str]) -> str | None:
    """Return code below the statements that define the names used by it and by its question.

    Imports count as known. None if a name is not defined above, or too many lines are needed.
    """
    body = _statements(code)
    if not body:
        return None
    statements = [
        (node, cell)
        for cell in above
        for node in _statements(cell)
        if not isinstance(node, ast.Expr) or _changed_by(node.value)
    ]
    known = {*dir(builtins), "__annotations__"}
    for node, _ in statements:
        if isinstance(node, _IMPORT):
            known |= _bound(node)
    defined_above = {name for node, _ in statements for name in _bound(node)}
    own = {name for node in body for name in _bound(node)}
    quoted = re.findall(r"`([^`]+)`", question)
    in_question = {name for part in quoted for name in _free(_statements(part))}
    wanted = (_free(body) | (in_question & defined_above - own)) - known
    chosen = []
    for node, cell in reversed(statements):
        if not isinstance(node, _IMPORT) and wanted & _bound(node):
            # A statement that changes a name, as `tree["w"] = 1` does, needs its definition too.
            wanted = (wanted - _bound(node)) | (_free([node]) - known)
            chosen.append(_source(node, cell))
    lines = sum(len(source.splitlines()) for source in chosen)
    return None if wanted or lines > MAX_LINES else "\n".join([*reversed(chosen), code])


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell; none of what is not Python, such as a magic of IPython's."""
    try:
        compile(source, "<cell>", "exec")
    except SyntaxError:
        return []
    return ast.parse(source).body


def _source(node: ast.stmt, cell: str) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(cell.splitlines()[first - 1 : node.end_lineno])


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a cell's top level defines or changes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, _IMPORT):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    called = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    return {target.id for target in _targets(node)} | _changed_by(called)


def _changed_by(called: ast.expr | None) -> set[str]:
    """Return the names that a call changes: of its object and its first argument."""
    match called:
        case ast.Call(func=ast.Attribute(attr=name, value=owner), args=arguments):
            changed = [owner, *arguments[:1]]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            changed = arguments[:1]
        case _:
            return set()
    is_change = _CHANGES.match(name)
    return {part.id for part in changed if isinstance(part, ast.Name) and is_change}


def _targets(node: ast.stmt) -> Iterator[ast.Name]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner
        elif isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield from (part for part in ast.walk(inner.value) if isinstance(part, ast.Name))


def _free(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements read before they define them, in order."""
    return _read_first(compile(ast.Module([*body], []), "<cell>", "exec"))


def _read_first(code: CodeType) -> set[str]:
    free: set[str] = set()
    defined = {code.co_name}  # a function or class may name itself
    for step in dis.get_instructions(code):
        match step.opname, step.argval:
            case "STORE_NAME", name:
                defined.add(name)
            case (("LOAD_NAME" | "LOAD_GLOBAL"), name):
                free |= {name} - defined
            case _, CodeType() as inner:
                free |= _read_first(inner) - defined
    return free


PREDICTION = "◇"
"""Start of a prediction; the code cell after it holds the answer."""
OPTION = re.compile(r"^- ([A-Z])\. (.+)$", re.MULTILINE)
LETTERS = re.compile(r"\*\*[A-Z]\.\*\*|\([A-Z](?:, [A-Z])*\)")
"""Letters of options in Markdown: `**B.**`, `(A)`, `(A, C)`."""
BARE_LETTER = re.compile(r"(?<![\w`'\"*(:.])[B-F](?=[ ,:;.)](?![*`]))")
"""A letter written in another way; "A" may be a word."""


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
                why = f"name an option as ({bare[0]}) or **{bare[0]}.**"
                mistakes.append(cell.mistake(f"{why}, for the build changes letters"))
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
            asked_text = OPTION.sub(partial(_next_of, lines), above.source)
            shown[at - 1] = replace(above, source=asked_text)
            question = OPTION.sub("", above.source).removeprefix(PREDICTION)
            question = " ".join(question.replace("**Predict.**", "").split())
            answer = new_letters.get(str(answer), str(answer))
            code = [cell.source for cell in cells[:at] if cell.kind == "code"]
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


def _next_of(lines: Iterator[str], _: re.Match[str]) -> str:
    return next(lines)


def _with_letters(text: str, new: dict[str, str]) -> str:
    """Replace the letters of options in a string by those in the notebook."""

    def changed(named: re.Match[str]) -> str:
        letters = re.sub("[A-Z]", lambda letter: new.get(letter[0], letter[0]), named[0])
        listed = re.findall("[A-Z]", letters)
        return f"({', '.join(sorted(listed))})" if len(listed) > 1 else letters

    return LETTERS.sub(changed, text)


FOLD = "<details>\n<summary>The answer, and why</summary>\n\n"
FOLD_END = "\n\n</details>"


def split_answer(text: str) -> tuple[str, str]:
    """Split the text below a prediction's cell into the answer's explanation and what follows."""
    next_part = re.search(r"^(\*\*Try\.\*\*|◇)", text, re.MULTILINE)
    at = next_part.start() if next_part else len(text)
    return text[:at].strip(), text[at:]


def with_closed_answer(text: str) -> str:
    """Fold the answer below a prediction's cell; suggestions and the next prediction stay open."""
    answer, rest = split_answer(text)
    return f"{FOLD}{answer}{FOLD_END}\n\n{rest}".strip() if answer else text


def with_open_answer(text: str) -> str:
    """Undo `with_closed_answer`."""
    return text.replace(FOLD, "").replace(FOLD_END, "")
