"""What the pictures of trees promise."""

import re
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, to_builtins

from pytree_course.drawing import draw, size, svg, svg_in_view, text
from pytree_course.drawing.items import MAX_ITEMS, MAX_LEVELS, items
from pytree_course.drawing.layout import lay_out
from pytree_course.observing.observations import (
    Node,
    Observation,
    Tracer,
    Unbounded,
    all_parts,
)
from pytree_course.observing.observe import observe, observe_raised
from tests.observing.test_observe import Pair, Scaled, values
from tests.stored import assert_as_stored

ELEMENTS = {"svg", "title", "path", "g", "rect", "text"}
SVG = "{http://www.w3.org/2000/svg}"

words = st.text(max_size=40) | st.text("<>&\"'/scriptonx=\n\0\x1b\u202e\uffff\ud800", max_size=30)
odd = st.sampled_from([np.arange(9), deque([3]), len, object(), ..., jax.tree.structure([0] * 20)])
trees = st.recursive(
    values | words | odd,
    lambda children: (
        st.lists(children, max_size=25) | st.dictionaries(words, children, max_size=25)
    ),
    max_leaves=80,
)
observations = trees.map(observe) | st.builds(Unbounded, words)


@st.composite
def marked_observations(draw):
    """An observation, and perhaps a path, which may lead somewhere in it."""
    observation = draw(observations)
    places = [path for path, _ in all_parts(observation)]
    return observation, draw(st.sampled_from([None, ("['nowhere']",), *places]))


@given(marked_observations())
def test_a_picture_is_the_same_every_time_and_no_text_in_it_is_markup(sample):
    observation, marked = sample
    picture = svg(observation, marked=marked)
    copy = convert(to_builtins(observation), Observation)
    assert svg(copy, marked=marked) == picture
    assert "\u202e" not in picture and "\0" not in picture and "url(" not in picture
    root = ElementTree.fromstring(picture.encode())  # no lone surrogates
    assert root.get("role") == "img" and root.get("aria-label")
    assert {element.tag for element in root.iter()} <= {SVG + name for name in ELEMENTS}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert attributes.isdisjoint({"id", "href", "src"})
    assert not any(name.startswith("on") for name in attributes)


@given(marked_observations())
def test_boxes_are_few_do_not_overlap_have_a_line_of_text_each_and_one_is_marked(sample):
    observation, marked = sample
    boxes, width, height = lay_out(items(observation, marked))
    lines = text(observation, marked=marked).splitlines()
    assert len(lines) == len(boxes) <= MAX_ITEMS + 3 * MAX_LEVELS
    assert sum(bool(box.mark) for box in boxes) == (marked is not None)
    assert sum("◀" in line for line in lines) >= (marked is not None)
    rows: dict[int, list[Any]] = {}
    for box in boxes:
        rows.setdefault(box.y, []).append(box)
        assert box.left >= 0 and box.left + box.width <= width
        assert box.y >= 0 and box.y + box.height <= height
        if box.children:
            middle = (box.children[0].x + box.children[-1].x) / 2
            assert abs(box.x - middle) <= 1
            assert box.row_bottom + 10 < box.children[0].y
    assert len(rows) <= MAX_LEVELS
    for row in rows.values():
        for left, right in pairwise(sorted(row, key=lambda box: box.x)):
            assert left.left + left.width < right.left


def test_tree_as_text():
    tree = {"w": np.zeros(2), "more": [Pair(1, None), {1, 2}, ()]}
    assert (
        text(observe(tree), marked=("['more']", "[0]", ".x"))
        == """\
dict
├─ ['more']  list
│  ├─ [0]  Pair
│  │  ├─ .x  1  ◀ here
│  │  └─ .y  None  (no leaf)
│  ├─ [1]  set of 2  (one leaf)
│  └─ [2]  tuple  (no children)
└─ ['w']  np f64[2]"""
    )


def cyclic():
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("observation", "said"),
    [
        (observe(deque([1, 2])), "deque of 2  (one leaf)"),
        (observe(jax.tree.structure([None])), "list  (PyTreeDef)\n└─ [0]  None  (no leaf)"),
        (observe(cyclic()), "cannot be drawn  (it contains itself)"),
        (observe(...), "not attempted"),
        (Tracer("float32", (2,)), "tracer f32[2]  (leaked, holds no value)"),
        (observe(None, is_leaf=lambda part: True), "None  (one leaf)"),
        (observe(np.array([None])), "ndarray object  (it has dtype object)"),
        (
            Node(type="Linear", is_custom=True, aux=observe(("relu", {"a": 3})), children=()),
            "Linear  (aux ('relu', {'a': 3}); no children)",
        ),
        (
            observe_raised(ValueError("it has 3 leaves"), mentions=("3", "['a']")),
            "raised ValueError  (it has 3 leaves; mentions 3; does not mention ['a'])",
        ),
    ],
)
def test_what_a_box_says(observation, said):
    assert text(observation) == said


DEEP: Any = None
for _ in range(50):
    DEEP = [DEEP, 0]


@pytest.mark.parametrize(
    ("value", "path", "marked"),
    [
        ([1, 2], (), "list  ◀ here"),
        ({"a": [1]}, ("['a']", "[1]", ".x"), "└─ ['a']  list  ◀ no [1] here"),
        ([np.arange(9)], ("[0]",), "└─ [0]  np i64[9]  ([0, 1, 2, 3, 4, 5, 6, 7, …])  ◀ here"),
        (DEEP, ("[0]",) * 50, "[0]  list  (… 43 leaves)  ◀ in here"),
    ],
    ids=["root", "missing", "array", "deep"],
)
def test_mark_is_at_its_place_or_at_the_deepest_ancestor_that_is_drawn(value, path, marked):
    [line] = [line for line in text(observe(value), marked=path).splitlines() if "◀" in line]
    assert line.endswith(marked)


EVERYTHING = {
    "ключ 漢": [Pair(1, None), Scaled("é🌳", "m"), {}, deque([1])],
    "many": [[index] for index in range(19)],
    "w": {"x": np.zeros((2, 3)), "y": (1, 2, 3, {"z": "a long text, " * 3})},
}


def test_a_picture_is_as_it_was_when_somebody_last_looked_at_it():
    picture = svg(observe(EVERYTHING), marked=("['w']", "['x']"))
    assert_as_stored(Path(__file__).with_name("everything.svg"), picture)


def test_a_frame_shows_the_mark_first_and_knows_the_size_of_its_picture():
    tree, path = observe({"a": [1], "b": 2}), ("['b']",)
    [marked] = [box for box in lay_out(items(tree, path))[0] if box.mark]
    place = f"left: {marked.left}px; top: {marked.y}px; width: {marked.width}px"
    assert place in svg_in_view(tree, marked=path)
    width, height = size(tree, marked=path)
    assert f'viewBox="0 0 {width} {height}"' in svg(tree, marked=path)


def test_values_are_drawn_side_by_side_under_their_titles():
    shown = draw([1], jax.tree.structure(2), 3, titles=["<b>", "Second"])
    assert shown.text == "<b>:\nlist\n└─ [0]  1\n\nSecond:\n*  (PyTreeDef)\n\n3"
    labels = re.findall('<svg [^>]*aria-label="(.*?)"', shown.html)
    assert labels == ["Tree: list with 1 child, 1 leaf", "PyTreeDef: *", "Tree: 3"]
    assert re.findall("<figcaption.*?>(.*?)</fig", shown.html) == ["&lt;b&gt;", "Second"]


@pytest.mark.parametrize(
    ("marked", "last"),
    [
        (None, ["├─ [11]  11", "└─ … 88 more leaves"]),
        (("[50]",), ["├─ … 39 more leaves", "├─ [50]  50  ◀ here", "└─ … 49 more leaves"]),
    ],
)
def test_many_leaves_are_folded_around_the_marked_one(marked, last):
    lines = text(observe(list(range(100))), marked=marked).splitlines()
    assert lines[-len(last) :] == last
    boxes = items(observe(list(range(100))), marked).children
    assert all(int(box.name) == box.leaves.start for box in boxes if box.shape == "leaf")
    assert sum(len(box.leaves) for box in boxes) == 100
