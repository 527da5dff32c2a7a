"""What all widgets share: beside the live view, a static form as HTML and as text."""

from abc import abstractmethod
from typing import Any

import ipywidgets

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
"""MIME type of a live widget; without the kernel that made it there is nothing to show."""


class Play(ipywidgets.VBox):
    """A widget with a static form, for stored notebooks, print, slides and terminals.

    The static form must be the same, byte for byte, whenever the same cell is run: stored notebooks
    are compared with a new run.
    """

    @abstractmethod
    def static_html(self) -> str:
        """Return the widget's first state as HTML that needs no kernel and no script."""

    @abstractmethod
    def static_text(self) -> str:
        """Return the widget's first state as plain text."""

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**keywords) or {}
        return {**bundle, "text/html": self.static_html(), "text/plain": self.static_text()}

    def __repr__(self) -> str:
        return self.static_text()
