"""Templates escape what is not theirs."""

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from pytree_course.rendering import TEMPLATES, Feedback, escape_hidden, render


def test_values_are_text_in_a_page_and_nothing_hidden_gets_through():
    page = render("notebook/status.html", text="<b>\u202e")
    assert "&lt;b&gt;\\u202e" in page and "<b>" not in page and not page.endswith("\n")
    assert escape_hidden(3) == 3
    assert escape_hidden(Markup("\u202e")) == "\u202e"
    with pytest.raises(UndefinedError):
        render("notebook/status.html")


def test_a_room_adds_filters_and_names_for_itself_alone():
    extended = TEMPLATES.extended({"twice": lambda text: text * 2}, name="x")
    assert "twice" in extended.environment.filters and "counted" in extended.environment.filters
    assert "twice" not in TEMPLATES.environment.filters
    assert "name" not in TEMPLATES.environment.globals


def test_feedback_is_two_forms_of_one_thing():
    shown = Feedback("<b>", "text")
    assert (repr(shown), shown._repr_mimebundle_()["text/html"]) == ("text", "<b>")
