"""Everything that notebooks import: the learner's check, views of trees and traces, widgets."""

NAMES = {
    "Checks": "pytree_course.notebook.checks",
    "count_traces": "pytree_course.notebook.traces",
    "course_map": "pytree_course.notebook.progress_views",
    "draw": "pytree_course.drawing",
    "explore": "pytree_course.notebook.explorer",
    "figure": "pytree_course.drawing.figures",
    "join": "pytree_course.notebook.joining",
    "leave": "pytree_course.notebook.joining",
    "pair": "pytree_course.notebook.map_view",
    "predict": "pytree_course.notebook.prediction",
    "review": "pytree_course.notebook.prediction",
    "show_progress": "pytree_course.notebook.progress_views",
    "vote": "pytree_course.notebook.joining",
}
"""The names that notebooks import from `pytree_course`, each with its module."""
