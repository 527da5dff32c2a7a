"""What a test of one lesson reads: for each lesson, it is skipped while that has not changed."""

from pathlib import Path

import pytest

from pytree_course.course import Course, LessonFiles

ALWAYS = "01_leaves"
"""The lesson that is tested in every run."""

BROWSER = (
    "src/pytree_course/jupyter",
    "tests/browser/[!t]*.py",
    "src/pytree_course/*.py",
    "src/pytree_course/drawing",
    "src/pytree_course/notebook",
)
"""What is shown in a browser of lessons and exercises, and how it gets there."""

LESSON_1 = (
    *BROWSER,
    "src/pytree_course/learner",
    "checks/expected/01_leaves*",
    "exercises/01_leaves_exercises.ipynb",
    "notebooks/01_leaves.ipynb",
)
"""What a learner of lesson 1 sees in a browser, and what keeps the learner's progress."""

IN_KERNEL = (
    "src/pytree_course/*.py",
    "src/pytree_course/notebook",
    "src/pytree_course/running",
    "src/pytree_course/judging",
)
"""What a kernel runs of a notebook, without a browser."""

REPORTS = ("tests/browser/[!t]*.py", "src/pytree_course/reports", "src/pytree_course/class_grading")
"""What is shown in a browser of a class's grades."""

CHECKS = (
    "src/pytree_course/*.py",
    *(f"src/pytree_course/{room}" for room in ("cases", "judging", "observing", "running")),
)
"""How answers are run and judged, in a notebook and in a grading."""

GRADING = (*CHECKS, "src/pytree_course/grading")
"""How a notebook is graded."""

CLASS = (*GRADING, "src/pytree_course/class_grading", "src/pytree_course/reports")
"""How a class is graded, and what is written of it."""

AUTHORING = (*CHECKS, "src/pytree_course/authoring", "src/pytree_course/sources")
"""How a lesson is built, and how its author's answers are tried."""


def notebook_reads(root: Path, notebook: Path) -> list[pytest.MarkDecorator]:
    """Return the marks of the cells of a built notebook: a change of the checks runs solutions."""
    pages = Course(root).with_sources()
    parts = (notebook.parent.name, notebook.stem)  # a deeper section is in its lesson's folder
    stems = [page.stem for page in pages if any(part.startswith(page.stem) for part in parts)]
    stem = stems[0] if stems else notebook.stem
    marks = lesson_reads(root, stem)
    is_solutions = notebook.parent.name == "solutions"
    return [*marks, pytest.mark.reads(*CHECKS)] if marks and is_solutions else marks


def lesson_reads(root: Path, stem: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test of one lesson or page."""
    files = Course(root).lesson(stem)
    own = [files.notebook, files.exercises, files.solutions, files.check_script, files.sources]
    own += [files.expected, files.blank, *files.notebooks()]
    if not files.has_exercises:  # a page shows what lessons there are
        own = [root / name for name in ("sources", "checks", "notebooks")]
    names = [file.relative_to(root).as_posix() for file in own if file.exists()]
    return [] if stem == ALWAYS else [pytest.mark.reads(*names)]


def each_of(lessons: list[LessonFiles]) -> pytest.MarkDecorator:
    """Give a test the files of each of these lessons, or pages."""
    return pytest.mark.parametrize(
        "files",
        [
            pytest.param(files, marks=lesson_reads(files.root, files.stem), id=files.stem)
            for files in lessons
        ],
    )
