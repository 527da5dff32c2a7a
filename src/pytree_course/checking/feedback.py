"""Feedback: a verdict, or a note, as HTML and as plain text. Its words are in `words`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pytree_course import drawing
from pytree_course.checking import words
from pytree_course.checking.verdicts import Verdict, VerdictKind
from pytree_course.rendering import TEMPLATES, render

WIDTH = 78
"""The longest line of a paragraph in plain text."""


@dataclass(frozen=True)
class VerdictLook:
    """Symbol, word, line style and colour of a verdict: colour never says anything alone."""

    symbol: str
    word: str
    border: str
    colour: str


_GREEN = "var(--jp-success-color1, #388e3c)"
_ORANGE = "var(--jp-warn-color1, #d9730d)"
_RED = "var(--jp-error-color1, #d32f2f)"

LOOKS = {
    kind: VerdictLook(symbol, words.VERDICTS[kind], border, colour)
    for kind, symbol, border, colour in (
        (VerdictKind.CORRECT, "✓", "solid", _GREEN),
        (VerdictKind.INCORRECT, "✗", "dashed", _ORANGE),
        (VerdictKind.NOT_ATTEMPTED, "○", "dotted", "currentColor"),
        (VerdictKind.ERROR, "!", "double", _RED),
        (VerdictKind.TIMED_OUT, "◷", "double", _RED),
        (VerdictKind.CRASHED, "!", "double", _RED),
    )
}


@dataclass(frozen=True)
class Feedback:
    """One message in two forms, shown by Jupyter as HTML and anywhere else as text."""

    html: str
    text: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __str__(self) -> str:
        return self.text


def feedback(
    verdict: Verdict,
    *,
    advice: Sequence[str] = (),
    section: str = "",
    link: str = "",
    standing: str = "",
    names: Sequence[str] = (),
    width: int = WIDTH,
) -> Feedback:
    """Show a verdict, what to do next, the section to reread, and one line on the progress.

    `names` are those of the parameters that the inputs are given to, where they are known.
    Paragraphs of the plain text are wrapped to the width; pictures and code are not.
    """
    return _render(
        "feedback",
        verdict=verdict,
        look=LOOKS[verdict.kind],
        failure=verdict.failure,
        advice=advice,
        section=section,
        link=link,
        standing=standing,
        captions=_captions(verdict, names),
        width=min(width, WIDTH),
    )


def _captions(verdict: Verdict, names: Sequence[str]) -> list[str]:
    """Return what stands above each input of the case that failed."""
    count = 0 if verdict.failure is None else len(verdict.failure.inputs)
    if len(names) < count:
        names = [f"input {place}" for place in range(1, count + 1)]
    return ["Given"] if count == 1 else [f"Given, {name}" for name in names[:count]]


def note(symbol: str, title: str, paragraphs: Sequence[str], code: str = "") -> Feedback:
    """Show what is no verdict: a hint, a solution, which cell to run first."""
    shown = {"symbol": symbol, "title": title, "paragraphs": paragraphs, "code": code}
    return _render("note", **shown, width=WIDTH)


def _render(template: str, **values: object) -> Feedback:
    html, text = (render(f"checking/{template}.{form}", **values) for form in ("html", "txt"))
    return Feedback(html, text)


def backticks_to_code(text: str) -> Markup:
    """Write plain text as HTML, what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


TEMPLATES.filters |= {
    "code": backticks_to_code,
    "headline": words.headline,
    "reason": words.reason,
}
TEMPLATES.globals |= {"svg": drawing.svg, "text": drawing.text}
