"""Render a verdict or a note as HTML and as plain text; the sentences are in `words`."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from markupsafe import Markup, escape

from pytree_course import drawing
from pytree_course.judging import words
from pytree_course.judging.verdicts import Failure, Verdict, VerdictKind
from pytree_course.public_reports import report_links
from pytree_course.rendering import TEMPLATES, Feedback

WIDTH = 78
"""The longest line of a paragraph in plain text."""
SCREEN_HEIGHT = 640
"""The pixels for feedback in a notebook of JupyterLab at 1280 × 800; if pictures of what was given
would not fit, they are folded, below the results."""
FRAME_WIDTH, FRAME_HEIGHT, LINE_HEIGHT = 760, 280, 22  # pixels, in feedback
MAX_STACKED = 300  # pixels of both results, if they stand below each other
MAX_PRINTED_LINES = 6  # the others are scrolled to
WIDEST_TEXT, WIDEST_CODE = 105, 43  # characters in a line, and in half a line of code
PASS_THROUGH_PARAMETERS = ("given", "inputs", "fields")
"""First-parameter names by which a check marks a function that forwards its inputs; the inputs are
then named by the answer's own parameters."""


@dataclass(frozen=True)
class VerdictLook:
    """Symbol, word, line style and colour of a verdict; colour is never the only sign."""

    symbol: str
    word: str
    border: str
    colour: str


_GREEN = "var(--jp-success-color1, #388e3c)"
_ORANGE = "var(--jp-warn-color1, #d9730d)"
_RED = "var(--jp-error-color1, #d32f2f)"

LOOKS = {
    VerdictKind.CORRECT: VerdictLook("✓", "Correct", "solid", _GREEN),
    VerdictKind.INCORRECT: VerdictLook("✗", "Not yet", "dashed", _ORANGE),
    VerdictKind.NOT_ATTEMPTED: VerdictLook("○", "Not attempted", "dotted", "currentColor"),
    VerdictKind.ERROR: VerdictLook("!", "Error", "double", _RED),
    VerdictKind.TIMED_OUT: VerdictLook("◷", "Timed out", "double", _RED),
    VerdictKind.CRASHED: VerdictLook("!", "Crashed", "double", _RED),
}


def feedback(
    verdict: Verdict,
    *,
    advice: Sequence[str] = (),
    section: str = "",
    link: str = "",
    standing: Feedback | None = None,
    call: Callable[..., Any] | None = None,
    answers: Sequence[Any] = (),
    width: int = WIDTH,
) -> Feedback:
    """Render a verdict.

    Parameters
    ----------
    verdict
        The verdict on an exercise, in a notebook or on a board.
    advice
        The next steps.
    section, link
        The title of the section to reread, and the link to it.
    standing
        The learner's progress in the lesson, and what comes next.
    call, answers
        The function that the failing case calls, and the learner's answers. Their parameters name
        the case's inputs.
    width
        Wrap paragraphs of the plain text to this; pictures and code are not wrapped.
    """
    failure = verdict.failure
    names: list[str] = []
    fits_a_screen, columns = False, 0
    if failure:
        columns, *results = _arrange_results(failure)
        fits_a_screen = _height(verdict, failure, *results) <= SCREEN_HEIGHT
        names = _input_names(len(failure.inputs), call, answers)
    return both_forms(
        "feedback",
        verdict=verdict,
        look=LOOKS[verdict.kind],
        failure=failure,
        advice=advice,
        section=section,
        link=link,
        standing=standing,
        names=names,
        fits_a_screen=fits_a_screen,
        columns=columns,
        width=min(width, WIDTH),
    )


def _arrange_results(failure: Failure) -> tuple[int, int, int]:
    """Return in how many columns the two results stand, and the width and height of both.

    If they are wide and low, they stand below each other.
    """
    marked = failure.difference.path
    sizes = [drawing.size(each, marked=marked) for each in (failure.got, failure.expected)]
    widths, heights = zip(*sizes, strict=True)
    if max(widths) > FRAME_WIDTH // 2 and sum(heights) <= MAX_STACKED:
        return 1, max(widths), sum(heights)
    return 2, sum(widths), max(heights)


def _height(verdict: Verdict, failure: Failure, width: int, height: int) -> int:
    """Estimate the height of feedback in pixels, with what was given above the two results.

    `width` and `height` are those of the two results as they are arranged.
    """
    texts = [misconception.explanation for misconception in verdict.misconceptions]
    texts += [*words.finding_sentences(verdict.findings), failure.note]
    lines = sum(_line_count(text, WIDEST_TEXT) for text in texts if text)
    lines += min(_line_count(failure.printed, WIDEST_TEXT), MAX_PRINTED_LINES)
    figures = []
    for given, written in zip(failure.inputs, failure.written, strict=True):
        drawn_width, drawn_height = drawing.size(given)
        longest = max(map(len, written.splitlines()), default=0)
        code_width = FRAME_WIDTH * min(longest, WIDEST_CODE) // (2 * WIDEST_CODE)
        code_height = LINE_HEIGHT * _line_count(written, WIDEST_CODE)
        figures.append((max(drawn_width, code_width), drawn_height + code_height))
    figures.append((width, height))
    rows: list[list[int]] = []  # the heights of the figures side by side
    room = 0
    for width, height in figures:
        if width > room:
            rows.append([])
            room = FRAME_WIDTH
        rows[-1].append(min(height, FRAME_HEIGHT) + LINE_HEIGHT)
        room -= width + 20
    return LINE_HEIGHT * (7 + lines) + sum(map(max, rows))


def _line_count(text: str, width: int) -> int:
    return sum(1 + len(line) // width for line in text.splitlines())


def _input_names(count: int, call: Callable[..., Any] | None, answers: Sequence[Any]) -> list[str]:
    """Return the names of `count` inputs: as code, those of the parameters that take them."""
    for function, follow_wrapped in ((call, False), (call, True), *((it, False) for it in answers)):
        if names := _parameter_names(function, count, follow_wrapped):
            return names
    return [f"input {number}" for number in range(1, count + 1)]


def _parameter_names(function: Any, count: int, follow_wrapped: bool) -> list[str]:
    """Return what a function calls `count` inputs; nothing if it passes them on, or takes fewer."""
    try:
        signature = inspect.signature(function, follow_wrapped=follow_wrapped)
    except Exception:  # an answer may be anything
        return []
    names: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            names += [f"`{name}[{index}]`" for index in range(count - len(names))]
        elif parameter.kind is not Parameter.KEYWORD_ONLY:
            names.append(f"`{name}`")
    passes_on = next(iter(signature.parameters), "") in PASS_THROUGH_PARAMETERS
    return [] if passes_on or len(names) < count else names[:count]


def note(symbol: str, title: str, paragraphs: Sequence[str]) -> Feedback:
    """Render any other message: a hint, a solution, which cell to run first.

    A paragraph that begins with a fence is code.
    """
    return both_forms("note", symbol=symbol, title=title, paragraphs=paragraphs, width=WIDTH)


def backticks_to_code(text: str) -> Markup:
    """Write plain text as HTML, with text between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


FEEDBACK_TEMPLATES = TEMPLATES.extended(
    {
        "code": backticks_to_code,
        "describe_difference": words.describe_difference,
        "explain_line": words.explain_line,
        "finding_sentences": words.finding_sentences,
        "headline": words.headline,
        "report_links": report_links,
    },
    svg=drawing.svg,
    svg_in_view=drawing.svg_in_view,
    text=drawing.text,
    looks=LOOKS,
)


def both_forms(template: str, **values: object) -> Feedback:
    """Render the HTML and the text form of a judging template."""
    html = FEEDBACK_TEMPLATES.render(f"judging/{template}.html", **values)
    text = FEEDBACK_TEMPLATES.render(f"judging/{template}.txt", **values)
    return Feedback(html, text)
