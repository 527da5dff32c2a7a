"""What a test of one lesson reads: for each lesson, it is skipped while that has not changed."""

from pathlib import Path

import pytest

from pytree_course.course import Course, LessonFiles

ALWAYS = "01_leaves"
"""The lesson that is tested in every run."""

ROOT = Path(__file__).parents[1]
NOT_READ = {"grading", "class_grading", "board", "reports", "cli"}
"""The rooms of the engine that no lesson's kernel loads, and no build."""
ROOMS = (init.parent.name for init in sorted((ROOT / "src/pytree_course").glob("*/__init__.py")))
ENGINE = (
    "src/pytree_course/*.py",
    *(f"src/pytree_course/{room}" for room in ROOMS if room not in NOT_READ),
)
BROWSER = ("jupyter", "tests/browser/[!t]*.py", *ENGINE)
"""What is shown in a browser of lessons and exercises, and how it gets there."""

REPORTS = ("tests/browser/[!t]*.py", "src/pytree_course/reports", "src/pytree_course/class_grading")
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
