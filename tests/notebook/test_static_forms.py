"""The static form that every widget has beside its live view."""

import re

import pytest

from pytree_course import count_traces, draw, explore, pair
from pytree_course.judging.expected import Prediction
from pytree_course.notebook.base import WIDGET_MIME
from pytree_course.notebook.prediction import Predict
from tests.observing.test_observe import Scaled

HOSTILE = {"<b>": ["<i>&", Scaled("<script>", object())], "f": print, "o": object()}


def in_use(widget):
    """Change a live widget as a learner would."""
    for name, value in {"is_leaf": "None is a leaf", "entry": "A"}.items():
        if hasattr(widget, name):
            getattr(widget, name).value = value
    if hasattr(widget, "again"):
        widget.again.click()
    return widget


WIDGETS = {
    "draw": lambda: draw(HOSTILE),
    "explore": lambda: explore(HOSTILE),
    "pair": lambda: pair(lambda *parts: parts, HOSTILE, HOSTILE),
    "count_traces": lambda: count_traces(lambda x: x, lambda n: {"<b>": n}, n=["<i>", 1]),
    "predict": lambda: Predict(Prediction("<b>?", {"A": "<i>", "B": "two"}, "A")),
}


@pytest.mark.parametrize("make", WIDGETS.values(), ids=WIDGETS)
def test_it_is_the_first_state_the_same_on_every_run_without_scripts_and_fetching_nothing(make):
    first, later = make()._repr_mimebundle_(), in_use(make())._repr_mimebundle_()
    for word in ("<script", "<b>", "<i>", "href", "url(", "src=", ' id="'):
        assert word not in first["text/html"]
    for mime in ("text/html", "text/plain"):
        assert first[mime] == later[mime]
        assert not re.search("0x[0-9a-f]", first[mime])
    assert repr(make()) == first["text/plain"]
    assert (WIDGET_MIME in first) == hasattr(make(), "comm")
