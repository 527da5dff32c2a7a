"""What a verdict says to a person, as HTML and as plain text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pytree_course import drawing
from pytree_course.checking.verdicts import Verdict, VerdictKind


@dataclass(frozen=True)
class Look:
    """Word, symbol, line style and colour of a verdict: colour never says anything alone."""

    symbol: str
    word: str
    border: str
    colour: str


LOOKS = {
    VerdictKind.CORRECT: Look("✓", "Correct", "solid", "var(--jp-success-color1, #388e3c)"),
    VerdictKind.INCORRECT: Look("✗", "Not yet", "dashed", "var(--jp-warn-color1, #d9730d)"),
    VerdictKind.NOT_ATTEMPTED: Look("○", "Not attempted", "dotted", "currentColor"),
    VerdictKind.ERROR: Look("!", "Error", "double", "var(--jp-error-color1, #d32f2f)"),
    VerdictKind.TIMED_OUT: Look("⏱", "Timed out", "double", "var(--jp-error-color1, #d32f2f)"),
    VerdictKind.CRASHED: Look("!", "Crashed", "double", "var(--jp-error-color1, #d32f2f)"),
}


@dataclass(frozen=True)
class Reread:
    """A lesson section worth another look."""

    title: str
    link: str


@dataclass(frozen=True)
class Feedback:
    """One message in two forms, shown by Jupyter as HTML and anywhere else as text."""

    html: str
    text: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __str__(self) -> str:
        return self.text


def section_link(lesson: str, title: str) -> str:
    """Return the link from a notebook in another folder to a section of a lesson."""
    return f"../notebooks/{lesson}.ipynb#{title.replace(' ', '-')}"


def feedback(
    verdict: Verdict,
    *,
    advice: Sequence[str] = (),
    reread: Reread | None = None,
    standing: str = "",
) -> Feedback:
    """Put a verdict into words and pictures.

    Parameters
    ----------
    verdict
        What was decided.
    advice
        Sentences on what to do next; text between backticks is shown as code.
    reread
        The lesson section to reread.
    standing
        One line on the learner's progress.
    """
    failure = verdict.failure
    values = {
        "verdict": verdict,
        "look": LOOKS[verdict.kind],
        "headline": headline(verdict),
        "failure": failure,
        "raised_by_mistake": verdict.kind is VerdictKind.ERROR,
        "advice": advice,
        "reread": reread,
        "standing": standing,
    }
    return _render("feedback", **values)


def headline(verdict: Verdict) -> str:
    """Say in one line how an exercise went."""
    points = f"{verdict.exercise_points} point{'s' if verdict.exercise_points != 1 else ''}"
    match verdict.kind:
        case VerdictKind.CORRECT:
            return f"{verdict.exercise} · {points} · all {verdict.cases} cases passed"
        case VerdictKind.INCORRECT:
            return f"{verdict.exercise} · {verdict.passed} of {verdict.cases} cases passed"
        case VerdictKind.NOT_ATTEMPTED:
            return f"{verdict.exercise} · {points}"
        case _:
            return f"{verdict.exercise} · {verdict.reason}"


def note(symbol: str, title: str, paragraphs: Sequence[str], code: str = "") -> Feedback:
    """Say something that is no verdict: a hint, a solution, which cell to run first."""
    values = {"symbol": symbol, "title": title, "paragraphs": paragraphs, "code": code}
    return _render("note", **values)


def _render(template: str, **values: object) -> Feedback:
    html = _templates().get_template(f"{template}.html").render(values)
    text = _templates().get_template(f"{template}.txt").render(values)
    return Feedback(html, text)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytree_course.checking"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
    )
    environment.filters["code"] = backticks_to_code
    environment.globals |= {"svg": drawing.svg, "text": drawing.text}
    return environment


def backticks_to_code(text: str) -> Markup:
    """Write plain text as HTML, what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
