"""The one visual grammar of the course: trees as inline SVG and as text.

A node is a box with its type's name, a leaf is a pill, None is a dashed box without a leaf, a
custom node has a double outline. Everything here draws observations; only `draw` takes values.
"""

from pytree_course.drawing.items import text
from pytree_course.drawing.picture import draw, size, svg, svg_in_view

__all__ = ["draw", "size", "svg", "svg_in_view", "text"]
