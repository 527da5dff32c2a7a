"""What a test of one lesson reads: for each lesson, it is skipped while that has not changed."""

from pathlib import Path

import pytest

from pytree_course.course import Course, LessonFiles

ALWAYS = "01_leaves"
"""The lesson that is tested in every run."""

# What runs in a lesson's kernel, and where the author's answers do.
ENGINE = tuple(
    f"src/pytree_course/{part}" for part in ("*.py", "authoring", "checking", "drawing", "widgets")
)
BROWSER = ("jupyter", "tests/browser/[!t]*.py", *ENGINE)
"""What is shown in a browser of lessons and exercises, and how it gets there."""

REPORTS = ("tests/browser/[!t]*.py", "src/pytree_course/reports", "src/pytree_course/classroom")
"""What is shown in a browser of a class's grades."""


def lesson_reads(root: Path, stem: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test of one lesson or page."""
    files = Course(root).lesson(stem)
    own = [files.notebook, files.exercises, files.solutions, files.check_script, files.sources]
    own += [files.expected, files.blank]
    if not files.has_exercises:  # a page shows what lessons there are
        own = [root / name for name in ("sources", "checks", "notebooks")]
    names = [file.relative_to(root).as_posix() for file in own if file.exists()]
    return [] if stem == ALWAYS else [pytest.mark.reads(*names, *ENGINE)]


def each_of(lessons: list[LessonFiles]) -> pytest.MarkDecorator:
    """Give a test the files of each of these lessons, or pages."""
    return pytest.mark.parametrize(
        "files",
        [
            pytest.param(files, marks=lesson_reads(files.root, files.stem), id=files.stem)
            for files in lessons
        ],
    )
