"""Which lesson a run tries as a whole: the one that was changed last, and all with `--all`."""

import subprocess
from collections.abc import Sequence

import pytest

from pytree_course.course import Course, LessonFiles
from tests.conftest import ROOT

LESSONS = Course(ROOT).lessons()


def changed_last() -> LessonFiles:
    """Return the lesson whose sources or check were committed last; the first without a history."""
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=", "--name-only", "--"]
    try:
        asked = [*git, "sources/0[1-9]*", "checks/*.py"]
        names = subprocess.run(asked, capture_output=True, text=True).stdout
    except OSError:  # there is no git
        names = ""
    return next((files for files in LESSONS if files.stem in names), LESSONS[0])


def each_in_turn(lessons: Sequence[LessonFiles]) -> pytest.MarkDecorator:
    """Give a test the lesson changed last and each page; the other lessons with `--all` only."""
    others = {files.stem for files in LESSONS} - {changed_last().stem}
    return pytest.mark.parametrize(
        "files",
        [
            pytest.param(
                files, marks=pytest.mark.thorough if files.stem in others else (), id=files.stem
            )
            for files in lessons
        ],
    )
