"""Plots are part of the page: its colours, a text alternative, the same every time."""

import re
from xml.etree import ElementTree

import pytest

from pytree_course.drawing import figures


def drawn(monkeypatch, alt, values):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    with figures.figure(alt) as axes:
        axes.plot(values)
        axes.set_title("values")
    (data,) = shown
    return data


def test_a_plot_is_inline_svg_with_its_text_in_the_colour_of_the_page(monkeypatch):
    data = drawn(monkeypatch, "A line & its <end>", [1, 2])
    root = ElementTree.fromstring(data["text/html"])
    assert (root.get("role"), root.get("aria-label")) == ("img", "A line & its <end>")
    assert data["text/plain"] == "A line & its <end>"
    assert "currentColor" in data["text/html"]
    assert figures.STAND_IN not in data["text/html"]


def test_a_plot_is_the_same_every_time_and_two_share_no_names(monkeypatch):
    first = drawn(monkeypatch, "line", [1, 2])["text/html"]
    assert first == drawn(monkeypatch, "line", [1, 2])["text/html"]
    other = drawn(monkeypatch, "line", [1, 3])["text/html"]
    names, other_names = (set(re.findall(r' id="([^"]+)"', html)) for html in (first, other))
    assert names
    assert not names & other_names


def test_a_plot_that_fails_shows_nothing(monkeypatch):
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: pytest.fail("shown"))
    with pytest.raises(ZeroDivisionError), figures.figure("nothing"):
        1 / 0  # noqa: B018
