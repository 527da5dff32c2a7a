"""Plots in a lesson: inline SVG in the page's colour, many on a page, with words for everybody."""

import re
from xml.etree import ElementTree

import matplotlib as mpl

from pytree_course import figure
from pytree_course.drawing.figures import STAND_IN


def shown(monkeypatch, alt, *numbers):
    outputs = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: outputs.append(data))
    with figure(alt, size=(4, 2)) as axes:
        axes.plot(numbers)
    [output] = outputs
    return output


def test_a_plot_is_drawn_in_the_pages_colour_and_changes_no_setting(monkeypatch):
    before = dict(mpl.rcParams)
    output = shown(monkeypatch, 'It "rises" & falls', 1, 3, 2)
    assert dict(mpl.rcParams) == before
    assert output["text/plain"] == 'It "rises" & falls'
    svg = output["text/html"]
    root = ElementTree.fromstring(svg)
    assert svg.startswith('<svg role="img"') and svg.endswith("</svg>")
    assert (root.get("aria-label"), root.get("width")) == ('It "rises" & falls', "288pt")
    assert "currentColor" in svg and STAND_IN not in svg
    assert "<path" in svg and "dc:date" not in svg


def test_what_a_plot_refers_to_is_in_it_and_in_no_other_on_the_page(monkeypatch):
    one, other = (shown(monkeypatch, "A line", *line)["text/html"] for line in ([1, 2], [2, 1]))
    ids, other_ids = (set(re.findall(r' id="(.+?)"', svg)) for svg in (one, other))
    assert ids == set(re.findall(r'(?:url\(#|href="#)(.+?)[)"]', one)) != set()
    assert ids.isdisjoint(other_ids)
    assert {len(prefix) for prefix, _, _ in (name.partition("-") for name in ids)} == {9}
