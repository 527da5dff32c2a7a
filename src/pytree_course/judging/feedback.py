"""Render a verdict or a note as HTML and as plain text; the words are in `words`."""

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from pytree_course import drawing
from pytree_course.judging import words
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.rendering import TEMPLATES, Feedback

WIDTH = 78
"""The longest line of a paragraph in plain text."""


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
    standing: str = "",
    call: Callable[..., Any] | None = None,
    width: int = WIDTH,
) -> Feedback:
    """Render a verdict, the next step, the section to reread, and one line on the progress.

    Inputs are named by the parameters of `call`, which they are given to, where it is known.
    Paragraphs of the plain text are wrapped to the width; pictures and code are not.
    """
    return both_forms(
        "feedback",
        verdict=verdict,
        look=LOOKS[verdict.kind],
        failure=verdict.failure,
        advice=advice,
        section=section,
        link=link,
        standing=standing,
        captions=_captions(verdict, call),
        width=min(width, WIDTH),
    )


def _captions(verdict: Verdict, call: Callable[..., Any] | None) -> list[str]:
    """Return the captions of the inputs of the case that failed."""
    count = 0 if verdict.failure is None else len(verdict.failure.inputs)
    try:
        parameters = [] if call is None else [*inspect.signature(call).parameters.values()]
    except Exception:  # an answer may be anything
        parameters = []
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    if len(names) < count:
        names = [f"input {place}" for place in range(1, count + 1)]
    return ["Given"] if count == 1 else [f"Given, {name}" for name in names[:count]]


def note(symbol: str, title: str, paragraphs: Sequence[str]) -> Feedback:
    """Render anything but a verdict: a hint, a solution, which cell to run first.

    A paragraph that begins with a fence is code.
    """
    return both_forms("note", symbol=symbol, title=title, paragraphs=paragraphs, width=WIDTH)


@contextmanager
def note_if_slow(seconds: float) -> Iterator[None]:
    """Tell the learner how to stop their code, once it has run for some seconds."""
    from IPython.display import display  # takes long to load, and the command line does without

    handles = []

    def say() -> None:
        slow = note("◷", words.SLOW_TITLE, [words.SLOW])
        handles.append(display(slow, display_id=True))

    # In the context of the cell, so that the note is shown below it.
    timer = threading.Timer(seconds, copy_context().run, [say])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be saying so just now
        for handle in handles:
            handle.update(Feedback("", ""))


def backticks_to_code(text: str) -> Markup:
    """Write plain text as HTML, with text between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


FEEDBACK_TEMPLATES = TEMPLATES.extended(
    {
        "code": backticks_to_code,
        "headline": words.headline,
        "line_wrong": words.line_wrong,
        "reason": words.reason,
        "sentences": words.finding_sentences,
    },
    svg=drawing.svg,
    text=drawing.text,
    looks=LOOKS,
)

render = FEEDBACK_TEMPLATES.render


def both_forms(template: str, **values: object) -> Feedback:
    """Fill the HTML and the text form of a template of this room."""
    html, text = (render(f"judging/{template}.{form}", **values) for form in ("html", "txt"))
    return Feedback(html, text)
