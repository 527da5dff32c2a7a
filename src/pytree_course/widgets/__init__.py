"""The widgets of the notebooks: each takes one line of code, and has a static form for pages."""

from typing import NamedTuple


class Name(NamedTuple):
    """What notebooks import from `pytree_course`: where it is, and how tall its output is."""

    module: str
    output_lines: int  # approximate, in lines of code on a slide


NAMES = {
    "Checks": Name("pytree_course.checking.checks", 0),
    "count_traces": Name("pytree_course.widgets.trace_counter", 16),
    "course_map": Name("pytree_course.widgets.start_page", 0),
    "draw": Name("pytree_course.drawing", 8),
    "explore": Name("pytree_course.widgets.explorer", 14),
    "figure": Name("pytree_course.drawing.figures", 8),
    "join": Name("pytree_course.board.joining", 0),
    "leave": Name("pytree_course.board.joining", 0),
    "pair": Name("pytree_course.widgets.map_view", 12),
    "predict": Name("pytree_course.widgets.prediction", 0),
    "review": Name("pytree_course.widgets.review", 0),
    "show_progress": Name("pytree_course.widgets.header", 0),
    "steps": Name("pytree_course.widgets.stepper", 16),
    "vote": Name("pytree_course.board.joining", 0),
}
