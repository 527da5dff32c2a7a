"""Render a verdict or a note as HTML and as plain text; the words are in `words`."""

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from markupsafe import Markup, escape

from pytree_course import drawing
from pytree_course.judging import words
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.observing.observations import Observation
from pytree_course.rendering import TEMPLATES, Feedback

WIDTH = 78
"""The longest line of a paragraph in plain text."""
MAX_IN_SIGHT = 8
"""Lines of a result, inputs and their names that fit on a screen; of more, inputs are folded."""
PASSED_ON = ("given", "inputs", "fields")
"""What a check's function calls the inputs that it passes on to the answer, whatever they are."""


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
    answers: Sequence[Any] = (),
    width: int = WIDTH,
) -> Feedback:
    """Render a verdict, the next step, the section to reread, and one line on the progress.

    Inputs are named by the parameters of `call`, which is given them, or else of an answer.
    Paragraphs of the plain text are wrapped to the width; pictures and code are not.
    """
    failure = verdict.failure
    inputs: Sequence[Observation] = ()
    lines = 0
    if failure:
        inputs = failure.inputs
        lines = max(_lines(failure.got), _lines(failure.expected))
        lines += sum(1 + _lines(observation) for observation in inputs)
    return both_forms(
        "feedback",
        verdict=verdict,
        look=LOOKS[verdict.kind],
        failure=failure,
        advice=advice,
        section=section,
        link=link,
        standing=standing,
        names=_names(len(inputs), call, answers),
        is_long=lines > MAX_IN_SIGHT,
        width=min(width, WIDTH),
    )


def _names(count: int, call: Callable[..., Any] | None, answers: Sequence[Any]) -> list[str]:
    """Return the names of so many inputs, those of parameters as code."""
    parameters = _parameters(call)
    if _are_passed_on(parameters):
        passed_to = [_parameters(call, follow_wrapped=True), *map(_parameters, answers)]
        fitting = [
            candidate
            for candidate in passed_to
            if _take(candidate, count) and not _are_passed_on(candidate)
        ]
        parameters = fitting[0] if fitting else parameters
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            names += [f"`{parameter.name}[{index}]`" for index in range(count - len(names))]
        elif parameter.kind is not Parameter.KEYWORD_ONLY:
            names.append(f"`{parameter.name}`")
    names += [f"input {number}" for number in range(len(names) + 1, count + 1)]
    return names[:count]


def _are_passed_on(parameters: Sequence[Parameter]) -> bool:
    return bool(parameters) and parameters[0].name in PASSED_ON


def _take(parameters: Sequence[Parameter], count: int) -> bool:
    """Return whether parameters take so many inputs."""
    if not parameters:
        return False
    return len(parameters) == count or parameters[-1].kind is Parameter.VAR_POSITIONAL


def _lines(observation: Observation) -> int:
    return drawing.text(observation).count("\n") + 1


def _parameters(call: Any, *, follow_wrapped: bool = False) -> list[Parameter]:
    """Return the parameters that a function itself has, or the function that it wraps."""
    try:
        return [*inspect.signature(call, follow_wrapped=follow_wrapped).parameters.values()]
    except Exception:  # an answer may be anything
        return []


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

    def show_note() -> None:
        slow = note("◷", words.SLOW_TITLE, [words.SLOW])
        handles.append(display(slow, display_id=True))

    # In the context of the cell, so that the note is shown below it.
    timer = threading.Timer(seconds, copy_context().run, [show_note])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be showing the note just now
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
    size=drawing.size,
    svg_in_view=drawing.svg_in_view,
    text=drawing.text,
    looks=LOOKS,
)

render = FEEDBACK_TEMPLATES.render


def both_forms(template: str, **values: object) -> Feedback:
    """Fill the HTML and the text form of a template of this room."""
    html, text = (render(f"judging/{template}.{form}", **values) for form in ("html", "txt"))
    return Feedback(html, text)
