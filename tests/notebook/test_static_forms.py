"""The static form that every widget has beside its live view."""

import re
from pathlib import Path

import numpy as np
import pytest

from pytree_course import count_traces, draw, explore, pair
from pytree_course.judging.expected import Prediction
from pytree_course.notebook.base import WIDGET_MIME
from pytree_course.notebook.prediction import Predict
from tests.observing.test_observe import Scaled
from tests.stored import assert_as_stored

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


TREE: dict[str, object] = {
    "a": [1, None, {}],
    "b": (np.ones(2, "float32"), "text"),
    "c": list(range(60)),
    "d": [[]],
}
STORED = {
    "explore": lambda: explore(TREE, choose_is_leaf=True),
    "explore_code": lambda: explore('{"a": 1, 2: 3}'),
    "pair": lambda: pair(lambda *parts: parts, TREE, {**TREE, "a": [[2], None, {}]}),
    "pair_none": lambda: pair(lambda *parts: parts, {"a": None}, {"a": 1}),
    "pair_raises": lambda: pair({1: 10, 2: 20}.__getitem__, [1, [2, 0, 3]]),
    "count_traces": lambda: count_traces(
        lambda x, n: x * n, x=[1, 1.5, np.ones(2)], n={"one": 1, "a word": "word"}
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_it_is_as_it_was_when_somebody_last_looked_at_it(name):
    for mime, text in STORED[name]()._repr_mimebundle_().items():
        if mime.startswith("text/"):
            file = f"{name}.{mime.removeprefix('text/')}"
            assert_as_stored(Path(__file__).parent / "static" / file, text)
