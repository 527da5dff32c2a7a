"""When a file was handed in: by nbgrader's stamp, by its commit, or by the file's own time."""

import os
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from pytree_course.class_grading import reading
from pytree_course.class_grading.roster import RosterEntry, match_roster
from pytree_course.class_grading.times import NO_STAMP, NO_TIME, handed_in
from tests.conftest import put
from tests.made_submissions import EXERCISES, WORKED_IN, left_out, read_class

OWN_TIME = datetime.fromtimestamp(1_000_000, tz=UTC)
NOON = datetime(2026, 11, 21, 12, 30)
STAMPS = {
    "2026-11-21 12:30:00 UTC\n": (NOON.replace(tzinfo=UTC), ""),
    "2026-11-21 12:30:00.0 Asia/Tokyo": (NOON.replace(tzinfo=UTC) - timedelta(hours=9), ""),
    "2026-11-21 12:30:00 +0330": (NOON.replace(tzinfo=UTC) - timedelta(hours=3.5), ""),
    "2026-11-21 12:30:00 -0330": (NOON.replace(tzinfo=UTC) + timedelta(hours=3.5), ""),
    "1970-01-02 00:00:00 UTC": (datetime(1970, 1, 2, tzinfo=UTC), ""),
    "2026-11-21 12:30:00 EDT": (NOON.astimezone(), "its time zone, EDT, is unknown here"),
}
NOT_STAMPS = [
    *("", "soon", "2026-11-21 12:30 ../UTC", "0001-01-01 00:00:00 Asia/Tokyo"),
    *("1969-06-01 12:30:00 UTC", "9500-01-01 12:30:00 UTC"),
    "2026-11-21 12:30:00" + " " * 100_000 + "UTC",
]
STAMPS |= dict.fromkeys(NOT_STAMPS, (OWN_TIME, NO_STAMP))


@pytest.mark.parametrize(("stamp", "expected"), STAMPS.items())
def test_nbgraders_time_counts_and_an_unreadable_one_is_remarked(tmp_path, stamp, expected):
    file = put(tmp_path / EXERCISES)
    os.utime(file, (1_000_000, 1_000_000))
    assert handed_in(file) == (OWN_TIME, "")
    put(tmp_path / "timestamp.txt", stamp)
    moment, remark = handed_in(file)
    assert moment == expected[0]
    assert remark.startswith(expected[1])
    assert bool(remark) == bool(expected[1])


def test_a_time_that_no_calendar_has_is_said_and_costs_nothing(tmp_path):
    file = put(tmp_path / EXERCISES)
    try:
        os.utime(file, (2**63 - 1,) * 2)
    except (OSError, OverflowError):
        pytest.skip("no file here can have this time")
    in_calendar = file.stat().st_mtime < 2.2e11  # a disk may have changed it
    assert in_calendar or handed_in(file)[1] == NO_TIME


def git(folder, *arguments, day=1):
    """Run git as a student does on a day of November."""
    moment = f"2026-11-{day:02}T12:00:00+00:00"
    variables = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *identity, "-C", folder, *arguments]
    subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)


@pytest.fixture
def clones(tmp_path, course):
    """Return GitHub Classroom's folder, with the clone of a student who worked for three days."""
    work, clones = tmp_path / "work", tmp_path / "leaves-submissions"
    put(work / "course.py")
    put(work / "checks" / "check_01_mini.py")
    exercises, blank = f"exercises/{EXERCISES}", course.lesson("01_mini").read_blank()
    clones.mkdir()
    for day, name, text in ((1, exercises, blank), (2, exercises, WORKED_IN), (9, "notes.py", "")):
        put(work / name, text)
        git(work, "init")
        git(work, "add", ".", day=day)
        git(work, "commit", "-m", "work", day=day)
    git(clones, "clone", work, "leaves-Ada-L")
    return clones


def test_a_clone_has_its_commits_time_and_its_account_as_student(clones, course, tmp_path):
    account = RosterEntry("u17", "Ada Lovelace", account="ada-l")
    for head in ("main", "detached"):
        read = read_class(clones, course, [account])
        (notebook,) = read.notebooks
        assert (notebook.student, notebook.remark) == ("Ada-L", ""), head
        assert notebook.handed_in == datetime(2026, 11, 2, 12, tzinfo=UTC)
        git(clones / "leaves-Ada-L", "checkout", "--detach")
    assert left_out(read) == {"Ada-L/notes.py": "it is a Python file, not a notebook"}
    assert match_roster([account], read.submitters.values()) == {"Ada-L": account}
    clones.rename(tmp_path / "week 1")  # then the roster tells
    assert [*read_class(tmp_path / "week 1", course, [account]).submitters] == ["ada-l"]
    assert [*read_class(tmp_path / "week 1", course).submitters] == ["leaves-Ada-L"]


def test_a_clone_runs_nothing_and_uncommitted_changes_have_their_own_time(clones, course, tmp_path):
    clone, run = clones / "leaves-Ada-L", tmp_path / "run"
    for setting in ("core.fsmonitor", "core.pager", "core.sshCommand", "alias.rev-list"):
        git(clone, "config", setting, f"!touch {run}")
    assert read_class(clones, course).notebooks[0].remark == ""
    put(clone / "exercises" / EXERCISES, WORKED_IN.replace("len", "sum"))
    (notebook,) = read_class(clones, course).notebooks
    assert (notebook.remark, notebook.handed_in > OWN_TIME) == (reading.NO_COMMIT, True)
    put(clone / ".git" / "HEAD", f"--output={run}")
    assert read_class(clones, course).notebooks[0].remark == reading.NO_COMMIT
    (clone / ".git" / "HEAD").unlink()
    os.mkfifo(clone / ".git" / "HEAD")
    assert read_class(clones, course).notebooks[0].remark == reading.NO_COMMIT
    assert not run.exists()
