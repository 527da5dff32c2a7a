"""Private temporary folders, and what killed gradings leave."""

import os
import signal
import stat
import subprocess
import sys
from tempfile import mkdtemp

import pytest

from pytree_course.grading import private_folder as module
from pytree_course.grading.private_folder import private_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows sweeps its own folder")

MAKES_ONE = """\
import sys
from pytree_course.grading.private_folder import private_folder
with private_folder() as folder:
    (folder / "answer.ipynb").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    module._sweep.cache_clear()
    return tmp_path


@pytest.fixture
def another(temporary):
    """Start another grading, which has made its folder."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", MAKES_ONE], stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_no_other_user_can_look_into_it_and_in_the_end_it_is_gone(temporary):
    with private_folder() as folder:
        assert folder.parent == temporary
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_what_a_killed_grading_left_is_swept(temporary, another):
    another.send_signal(signal.SIGKILL)
    another.wait()
    (left,) = temporary.iterdir()
    with private_folder() as folder:
        assert [*temporary.iterdir()] == [folder]
    assert not left.exists()


def test_the_folder_of_a_grading_that_runs_is_left_alone(temporary, another):
    (its,) = temporary.iterdir()
    with private_folder() as folder:
        assert {*temporary.iterdir()} == {its, folder}
    assert (its / "answer.ipynb").exists()


def test_what_is_not_surely_a_dead_gradings_is_left_alone(temporary):
    mine = temporary / "mine"
    mine.mkdir()
    (temporary / "pytree-course-grading-link").symlink_to(mine)
    (temporary / "pytree-course-grading-file").touch()
    (temporary / "pytree-course-jupyter-1").mkdir()
    others = {path.name for path in temporary.glob("pytree-*")}
    with private_folder():
        pass
    names = {path.name for path in temporary.iterdir()}
    assert names == {"mine", *others}


def test_one_that_a_sweep_removes_before_it_is_locked_is_made_again(temporary, monkeypatch):
    made = []

    def swept_once(prefix):
        made.append(mkdtemp(prefix=prefix))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", swept_once)
    with private_folder() as folder:
        assert [*temporary.iterdir()] == [folder]
    assert len(made) == 2


def test_one_whose_maker_was_killed_before_it_was_locked_is_swept(temporary):
    (temporary / "pytree-course-grading-begun").mkdir()
    with private_folder() as folder:
        assert [*temporary.iterdir()] == [folder]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give")
def test_another_users_folder_is_left_alone(temporary):
    theirs = temporary / "pytree-course-grading-theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, -1)
    with private_folder():
        pass
    assert theirs.exists()
