"""What learners get, in a bundle or by a reset; nobody's work is lost."""

import shutil

import pytest

from pytree_course.course import Course, CourseError
from pytree_course.released_files import (
    find_bundle_files,
    hand_out,
    read_bundle,
    unpack,
    write_bundle,
)
from tests.conftest import contents, put


def test_reset_hands_out_a_fresh_notebook_and_keeps_the_old_one(mini, notebook):
    assert hand_out(mini, mini.read_blank()) is None
    for code in ("first = 1", "second = 2"):
        notebook.answer("count_leaves", code).save()
        kept = hand_out(mini, mini.read_blank())
        assert code in kept.read_text(encoding="utf-8")
        assert mini.exercises.read_bytes() == mini.blank.read_bytes()
    assert len(list(mini.exercises.parent.glob("*kept*"))) == 2
    assert hand_out(mini, "{}") is None and mini.blank.read_text("utf-8") == "{}"
    mini.exercises.write_text("no notebook")  # who knows what it was
    assert hand_out(mini, mini.read_blank()).read_text() == "no notebook"


def test_a_bundle_holds_all_of_the_lessons_and_nothing_of_the_author(whole):
    names = [*find_bundle_files(whole)]
    assert names == sorted(names)
    assert [name for name in names if name.startswith(("checks", "notebooks"))] == [
        "checks/check_01_mini.py",
        "checks/expected/01_mini.ipynb",
        "checks/expected/01_mini.json",
        "checks/expected/01_mini/count_leaves.json",
        "checks/expected/01_mini/first_leaf.json",
        "notebooks/01_mini.ipynb",
        "notebooks/deeper/01_mini/counting-without-a-list.ipynb",
        "notebooks/deeper/01_mini/none-is-no-leaf.ipynb",
    ]
    put(whole.root / "notebooks" / ".ipynb_checkpoints" / "x.ipynb")
    shutil.rmtree(whole.root / "sources")
    assert [*find_bundle_files(whole)] == names  # from a learner's copy, too
    bundle = read_bundle(whole)
    assert bundle["exercises/01_mini_exercises.ipynb"] == bundle["checks/expected/01_mini.ipynb"]
    assert b"For authors" not in bundle["README.md"] and b"## " in bundle["README.md"]
    (whole.root / "LICENSE").unlink()
    with pytest.raises(CourseError, match="LICENSE is missing: a release needs it"):
        find_bundle_files(whole)


def test_a_bundle_replaces_all_but_what_is_hidden(tmp_path):
    put(tmp_path / "old" / "file")
    put(tmp_path / "README.md")
    put(tmp_path / ".git" / "HEAD", "main")
    put(tmp_path / ".gitignore", "mine")
    write_bundle(tmp_path, {".gitignore": b"ours", "README.md": b"new", "checks/check_x.py": b"x"})
    assert contents(tmp_path) == {
        ".git/HEAD": b"main",
        ".gitignore": b"mine",
        "README.md": b"new",
        "checks/check_x.py": b"x",
    }


def test_the_course_is_unpacked_into_an_empty_folder_alone(tmp_path, course, monkeypatch, whole):
    monkeypatch.setattr(Course, "installed", lambda: whole)
    put(tmp_path / "new" / ".venv" / "pyvenv.cfg")
    assert unpack(tmp_path / "new").lessons()[0].stem == "01_mini"
    put(tmp_path / "mine" / "thesis.txt")
    with pytest.raises(CourseError, match=r"is not empty: thesis\.txt is in it"):
        unpack(tmp_path / "mine")
    monkeypatch.setattr(Course, "installed", lambda: None)
    with pytest.raises(CourseError, match="incomplete"):
        unpack(tmp_path / "new")
