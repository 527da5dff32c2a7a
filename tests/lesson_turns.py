"""Which lesson a run tries as a whole: another one with each commit, and all with `--all`."""

import subprocess
from collections.abc import Sequence

import pytest

from pytree_course.course import Course, LessonFiles
from tests.conftest import ROOT

LESSONS = Course(ROOT).lessons()


def lesson_in_turn() -> LessonFiles:
    """Return the lesson of this commit; without git, as in an archive, the first one."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        commit = "0"
    return LESSONS[int(commit, 16) % len(LESSONS)]


def each_in_turn(lessons: Sequence[LessonFiles]) -> pytest.MarkDecorator:
    """Give a test the lesson of this commit and each page; the other lessons with `--all` only."""
    others = {files.stem for files in LESSONS} - {lesson_in_turn().stem}
    return pytest.mark.parametrize(
        "files",
        [
            pytest.param(
                files, marks=pytest.mark.thorough if files.stem in others else (), id=files.stem
            )
            for files in lessons
        ],
    )
