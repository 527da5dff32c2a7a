"""The widgets of the notebooks: each takes one line of code, and has a static form for pages."""

NAMES = {
    "Checks": "pytree_course.checking.checks",
    "count_traces": "pytree_course.widgets.trace_counter",
    "course_map": "pytree_course.widgets.start_page",
    "draw": "pytree_course.drawing",
    "explore": "pytree_course.widgets.explorer",
    "figure": "pytree_course.drawing.figures",
    "join": "pytree_course.board.joining",
    "leave": "pytree_course.board.joining",
    "pair": "pytree_course.widgets.map_view",
    "predict": "pytree_course.widgets.prediction",
    "review": "pytree_course.widgets.review",
    "show_progress": "pytree_course.widgets.header",
    "vote": "pytree_course.board.joining",
}
"""What notebooks import from `pytree_course`, and the module of each name."""
