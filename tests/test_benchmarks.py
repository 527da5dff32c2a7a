"""The benchmarks run, and print what they measured."""

import json
import shutil
import subprocess
import sys

import nbformat
import pytest

from pytree_course.class_grading.folder import read_class_folder
from pytree_course.course import Course
from tests.conftest import ROOT
from tests.needs import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.reads(
        ".ci/benchmarks",
        "src/pytree_course/class_grading",
        "sources/01_leaves",
        "checks/check_01_leaves.py",
        "exercises/01_leaves_exercises.ipynb",
    ),
]


def run(folder, name, *arguments):
    line = [sys.executable, str(ROOT / ".ci" / "benchmarks" / name), *arguments]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_made_class_can_be_graded(tmp_path):
    run(ROOT, "made_class.py", str(tmp_path / "class"), "20", "01_leaves")
    handed_in = read_class_folder(tmp_path / "class", Course(ROOT))
    assert len(handed_in.submitters) == 20
    assert len(handed_in.notebooks) == 19
    whole = [each.file for each in handed_in.notebooks if each.file.read_bytes()[:2] == b"{\n"]
    assert all(nbformat.read(file, as_version=4).cells for file in whole)


def test_a_whole_class_has_no_two_equal_answers(tmp_path):
    run(ROOT, "made_class.py", "--whole", str(tmp_path / "class"), "5", "01_leaves")
    files = sorted((tmp_path / "class").rglob("*.ipynb"))
    cells = [cell for file in files for cell in nbformat.read(file, as_version=4).cells]
    answers = [cell["source"] for cell in cells if cell.id.endswith("-answer")]
    assert len(files) == 5
    assert len({*answers}) == len(answers)


def test_a_class_is_timed_and_its_marks_are_right(course):
    engines = ["course", "scripts", "limit"]
    shown = run(course.root, "class_time.py", "--quick", "--lessons", "1", "--engines", *engines)
    timed = json.loads(shown)
    assert {each["engine"] for each in timed} == {*engines}
    assert {each["part"] for each in timed} == {"warm-up", "engines", "sizes"}
    for each in timed:
        assert each["marks"] == 2 * each["submissions"]
        assert each["differing"] == 0
        assert not each["left_behind"]
        assert each["seconds"] > 0


def test_verdicts_are_the_same_in_each_way_to_grade(course):
    assert "4 compared, 0 differ" in run(course.root, "same_verdicts.py", "--quick")


def test_the_time_of_every_check_is_shown(course):
    shown = run(course.root, "check_time.py", "--repeats", "1")
    assert "count_leaves" in shown
    assert "first_leaf" in shown
    assert "The target is" in shown


def test_the_time_of_the_explorer_is_shown(tmp_path):
    assert "flat dict" in run(tmp_path, "explorer_time.py", "10")


def test_a_full_room_loses_nothing_and_its_latencies_are_shown():
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        missing("Chromium, in which the board is shown")
    shown = json.loads(run(ROOT, "class_room.py", "--learners", "12", "--seconds", "6"))
    assert (shown["events"], shown["missing"], shown["surplus"]) == (36, 0, 0)
    assert shown["latencies"]["board"]["all"]["p50"] > 0
    assert shown["latencies"]["projector"]["all"]["count"] > 0
