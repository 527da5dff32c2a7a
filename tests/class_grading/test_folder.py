"""What a class handed in: found in every layout, read whatever it is called, the rest said."""

import ctypes
import os
import signal
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from pytree_course.class_grading import reading, student_files
from pytree_course.class_grading.folder import read_handed_in
from pytree_course.class_grading.pool import local_pool
from pytree_course.class_grading.roster import RosterEntry, match_roster
from pytree_course.class_grading.student_files import A_LINK, NO_FILE
from pytree_course.class_grading.times import NO_STAMP, NO_TIME
from pytree_course.course import CourseError
from pytree_course.grading.submission import read_submission_of_any_lesson
from tests.conftest import put
from tests.made_submissions import WORKED_IN, read_class

EXERCISES = "01_mini_exercises.ipynb"
MARKS = "<<<<<<< HEAD\n" + WORKED_IN


@pytest.fixture
def class_folder(folder, course):
    """Return a function that reads the class's folder, or another one."""
    return lambda path=folder, roster=(): read_class(path, course, roster)


def found(read):
    return [(each.student, each.lesson, each.file.name) for each in read.notebooks]


def left_out(read):
    return {f"{student}/{file}": why for student, file, why in read.left_out}


def test_a_folder_for_each_student_with_a_notebook_for_each_lesson(folder, class_folder):
    put(folder / "ada" / EXERCISES, WORKED_IN)
    put(folder / "bob" / "week 1" / "mine" / EXERCISES, WORKED_IN)
    (folder / "cyd").mkdir()
    read = class_folder()
    assert [*read.submitters] == ["ada", "bob", "cyd"]
    assert found(read) == [("ada", "01_mini", EXERCISES), ("bob", "01_mini", EXERCISES)]
    assert (read.left_out, read.doubts) == ([], [])


@pytest.mark.parametrize(
    ("name", "data"),
    {
        "Copy of 01_mini_exercises.ipynb": WORKED_IN.encode(),
        "ADA Lovelace - homework.IPYNB": WORKED_IN.encode(),
        "01_mini_exercises.ipynb.txt": WORKED_IN.encode(),
        "homework.json": f"\n {WORKED_IN}".encode("utf-8-sig"),
        "homework": WORKED_IN.encode("utf-16"),
    }.items(),
)
def test_a_notebook_is_read_whatever_it_is_called(folder, class_folder, name, data):
    put(folder / "ada" / name).write_bytes(data)
    read = class_folder()
    assert found(read) == [("ada", "01_mini", name)]
    assert read.left_out == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("essay.pdf", "%PDF", "it is a PDF, not a notebook"),
        ("data.json", '{"rows": []}', "it is not a notebook"),
        ("work.tar.gz", "\x1f", "it is an archive that is not opened: unpack it, or ask for a zip"),
        ("scratch.ipynb", '{"cells": []}', "it is a notebook without answer cells of this course"),
        ("homework.ipynb", "{", "homework.ipynb is not a notebook: "),
        ("homework.ipynb", MARKS, "homework.ipynb is not a notebook: it holds Git's conflict"),
        ("homework.zip", "no zip", "it is neither a folder nor a zip that can be read"),
    ],
)
def test_a_file_that_is_not_read_is_its_students_with_the_reason(
    folder, class_folder, name, text, why
):
    put(folder / "ada" / "week 1" / name, text)
    read = class_folder()
    assert [*read.submitters] == ["ada"]
    ((where, said),) = left_out(read).items()
    assert where == f"ada/week 1/{name}"
    assert said.startswith(why)


def test_an_unreadable_notebook_is_placed_by_its_name(folder, class_folder):
    put(folder / "ada" / EXERCISES, "{")
    (notebook,) = class_folder().notebooks
    assert notebook.lesson == "01_mini"
    assert notebook.problem.startswith(f"{EXERCISES} is not a notebook")
    put(folder / "ada" / "older.ipynb", WORKED_IN)
    os.utime(folder / "ada" / "older.ipynb", (1_000_000, 1_000_000))
    read = class_folder()
    assert read.notebooks[0].problem == ""
    assert [*left_out(read)] == [f"ada/{EXERCISES}"]


def test_a_copied_course_hands_in_only_notebooks_with_answers(folder, class_folder, course):
    copy, blank = folder / "ada" / "pytree-course", course.lesson("01_mini").read_blank()
    put(copy / "notes" / "mine.ipynb", WORKED_IN)
    put(copy / "notes" / "essay.pdf")
    for name in ("exercises/01_mini_exercises.ipynb", "checks/expected/01_mini.ipynb"):
        put(copy / name, blank)
    put(copy / "notebooks" / "01_mini.ipynb", course.lesson("01_mini").notebook.read_text())
    for name in ("README.md", "course.py", "src/pytree_course/a.py", ".venv/x.ipynb", ".git/HEAD"):
        put(copy / name)
    put(folder / "bob" / EXERCISES, blank)  # alone, it is handed in
    read = class_folder()
    assert found(read) == [("ada", "01_mini", "mine.ipynb"), ("bob", "01_mini", EXERCISES)]
    assert left_out(read) == {"ada/pytree-course/notes/essay.pdf": "it is a PDF, not a notebook"}
    assert read.doubts == []


def git(folder, *arguments, day=1):
    """Run git as a student does on a day of November."""
    moment = f"2026-11-{day:02}T12:00:00+00:00"
    variables = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *identity, "-C", folder, *arguments]
    subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)


@pytest.fixture
def clones(tmp_path, course):
    """Return GitHub Classroom's folder, with the clone of a student who worked for two days."""
    work, clones = tmp_path / "work", tmp_path / "leaves-submissions"
    put(work / "course.py")
    put(work / "checks" / "check_01_mini.py")
    put(work / "exercises" / EXERCISES, course.lesson("01_mini").read_blank())
    git(work, "init")
    for day, name, text in ((2, f"exercises/{EXERCISES}", WORKED_IN), (9, "notes.py", "")):
        put(work / name, text)
        git(work, "add", ".", day=day)
        git(work, "commit", "-m", "work", day=day)
    clones.mkdir()
    git(clones, "clone", work, "leaves-Ada-L")
    return clones


def test_a_clone_has_its_commits_time_and_its_account_as_student(clones, class_folder, tmp_path):
    account = RosterEntry("u17", "Ada Lovelace", account="ada-l")
    read = class_folder(clones, [account])
    (notebook,) = read.notebooks
    assert (notebook.student, notebook.remark) == ("Ada-L", "")
    assert notebook.handed_in == datetime(2026, 11, 2, 12, tzinfo=UTC)
    assert left_out(read) == {"Ada-L/notes.py": "it is a Python file, not a notebook"}
    assert match_roster([account], read.submitters.values()) == {"Ada-L": account}
    clones.rename(tmp_path / "week 1")  # then the roster tells
    assert [*class_folder(tmp_path / "week 1", [account]).submitters] == ["ada-l"]
    assert [*class_folder(tmp_path / "week 1").submitters] == ["leaves-Ada-L"]


def test_a_clone_runs_nothing_and_uncommitted_changes_have_their_own_time(
    clones, class_folder, tmp_path
):
    clone = clones / "leaves-Ada-L"
    for setting in ("core.fsmonitor", "core.pager", "core.sshCommand", "alias.rev-list"):
        git(clone, "config", setting, f"!touch {tmp_path / 'run'}")
    assert class_folder(clones).notebooks[0].remark == ""
    put(clone / "exercises" / EXERCISES, WORKED_IN.replace("len", "sum"))
    (notebook,) = class_folder(clones).notebooks
    assert (notebook.remark, notebook.handed_in > OWN_TIME) == (reading.NO_COMMIT, True)
    (clone / ".git" / "HEAD").unlink()
    os.mkfifo(clone / ".git" / "HEAD")
    assert class_folder(clones).notebooks[0].remark == reading.NO_COMMIT
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        ([EXERCISES, "01_mini_exercises.kept-1.ipynb"], EXERCISES),
        ([EXERCISES, "01_mini_exercises (1).ipynb"], "01_mini_exercises (1).ipynb"),
        (["01_mini (9).ipynb", "01_mini (10).ipynb"], "01_mini (10).ipynb"),
        ([EXERCISES, "01_mini_exercises-2.ipynb"], "01_mini_exercises-2.ipynb"),
    ],
)
def test_the_newest_notebook_counts_and_names_decide_equal_times(
    folder, class_folder, names, counts
):
    early, late = (datetime(2026, 11, day, 18, 40).timestamp() for day in (27, 28))
    for name in names:
        os.utime(put(folder / "ada" / name, WORKED_IN), (early, early))
    (notebook,) = class_folder().notebooks
    assert notebook.remark.startswith(f"of 2 notebooks, the last counts: {counts} (27 Nov 2026, ")
    assert notebook.remark.endswith(", chosen by its name, because another one has the same time")
    for newest, other in (names, names[::-1]):
        os.utime(folder / "ada" / newest, (late, late))
        (notebook,) = class_folder().notebooks
        assert notebook.remark == (
            f"of 2 notebooks, the last counts: {newest} (28 Nov 2026, 18:40), "
            f"not {other} (27 Nov 2026, 18:40)"
        )
        os.utime(folder / "ada" / newest, (early, early))


def test_a_blank_copy_does_not_count_and_moved_answers_are_remarked(folder, class_folder, course):
    blank = course.lesson("01_mini").read_blank()
    put(folder / "ada" / "01_mini (1).ipynb", blank)
    cell = '{"cell_type": "code", "source": "count_leaves = len"}'
    worked_in = blank.replace('"cells": [', f'"cells": [{cell},')
    os.utime(put(folder / "ada" / EXERCISES, worked_in), (1_000_000, 1_000_000))
    (notebook,) = class_folder().notebooks
    assert notebook.file.name == EXERCISES
    assert notebook.remark.startswith("count_leaves: the answer cell is as it was handed out; ")


OWN_TIME = datetime.fromtimestamp(1_000_000, tz=UTC)
NOON = datetime(2026, 11, 21, 12, 30)
STAMPS = {
    "2026-11-21 12:30:00 UTC\n": (NOON.replace(tzinfo=UTC), ""),
    "2026-11-21 12:30:00.0 Asia/Tokyo": (NOON.replace(tzinfo=UTC) - timedelta(hours=9), ""),
    "2026-11-21 12:30:00 +0330": (NOON.replace(tzinfo=UTC) - timedelta(hours=3.5), ""),
    "2026-11-21 12:30:00 EDT": (NOON.astimezone(), "its time zone, EDT, is unknown here"),
}
NOT_STAMPS = [
    *("", "soon", "2026-11-21 12:30 ../UTC", "0001-01-01 00:00:00 Asia/Tokyo"),
    "2026-11-21 12:30:00" + " " * 100_000 + "UTC",
]
STAMPS |= dict.fromkeys(NOT_STAMPS, (OWN_TIME, NO_STAMP))


@pytest.mark.parametrize(("stamp", "time"), STAMPS.items())
def test_nbgraders_time_counts_and_an_unreadable_one_is_remarked(folder, class_folder, stamp, time):
    assignment = folder / "submitted" / "ada" / "week 1"
    file = put(assignment / EXERCISES, WORKED_IN)
    put(assignment / "timestamp.txt", stamp)
    os.utime(file, (1_000_000, 1_000_000))
    read = class_folder()
    (notebook,) = read.notebooks
    assert (notebook.student, notebook.handed_in) == ("ada", time[0])
    assert notebook.remark.startswith(time[1])
    assert bool(notebook.remark) == bool(time[1])
    assert read.left_out == []


def test_nbgraders_folder_submitted_is_found_also_beside_a_student_called_submitted(
    folder, class_folder
):
    put(folder / "source" / "01_mini" / EXERCISES, WORKED_IN)
    put(folder / "submitted" / "ada" / "leaves" / EXERCISES, WORKED_IN)
    put(folder / "submitted" / "submitted" / "leaves" / EXERCISES, WORKED_IN)
    for named in (folder, folder / "submitted"):
        assert [student for student, *_ in found(class_folder(named))] == ["ada", "submitted"]
    put(folder / "bob" / EXERCISES, WORKED_IN)  # now it is a student's, as is one of a lesson
    put(folder / "01_mini" / "week 1" / EXERCISES, WORKED_IN)
    students = {student for student, *_ in found(class_folder())}
    assert students == {"01_mini", "bob", "source", "submitted"}


def test_the_wrong_folder_is_doubted_or_refused_with_advice(folder, class_folder):
    for student in ("ada", "bob"):
        put(folder / "handed-in" / student / EXERCISES, WORKED_IN)
    (doubt,) = class_folder().doubts
    assert doubt.startswith("handed-in has 01_mini in 2 folders.")
    assert f"name {folder / 'handed-in'} instead" in doubt
    assert class_folder(folder / "handed-in").doubts == []
    with pytest.raises(CourseError, match=r"name the folder that it is in: .*handed-in$"):
        class_folder(folder / "handed-in" / "ada")
    (folder / "empty").mkdir()
    for empty, said in (("empty", r"ada/01_mini_exercises\.ipynb"), ("none", "is not there")):
        with pytest.raises(CourseError, match=said):
            class_folder(folder / empty)


def test_names_are_composed_and_escaped_and_similar_ones_doubted(folder, class_folder):
    names = [
        b"j\xfcrgen",
        b"eve\x1b[2J",
        b"ada\xe2\x80\xaegrade",
        "Zoe\u0308".encode(),
        b"Zo\xc3\xab",
    ]
    for name in names:
        put(folder / os.fsdecode(name) / f"Zoe\u0308 {EXERCISES}", WORKED_IN)
    read = class_folder()
    escaped = ["Zo\xeb", "Zo\xeb (2)", "ada\\u202egrade", "eve\\x1b[2J", "j\\udcfcrgen"]
    assert [*read.submitters] == escaped
    assert {notebook.name for notebook in read.notebooks} == {f"Zo\xeb {EXERCISES}"}
    (doubt,) = read.doubts
    assert doubt.startswith("Zo\xeb and Zo\xeb (2) are graded as 2 students")


# ---- what is untrusted costs its own student only


def test_links_hidden_files_and_pipes_are_not_opened(folder, class_folder):
    bobs = folder / "bob"
    put(bobs / ".ipynb_checkpoints" / EXERCISES, WORKED_IN)
    put(folder / ".git" / EXERCISES, WORKED_IN)
    put(bobs / "._x.ipynb", "\0\5")
    (bobs / EXERCISES).symlink_to(put(folder.parent / "secret.ipynb", WORKED_IN))
    (bobs / "week 2").symlink_to(folder.parent)
    (folder / "eve").symlink_to(bobs)
    (folder / "submitted").symlink_to(folder)
    put(folder / EXERCISES, WORKED_IN)
    put(folder / "class.csv", "student\nbob\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(bobs / "fifo.ipynb")
        os.mkfifo(bobs / "a.zip")
    read = class_folder()
    assert ([*read.submitters], read.notebooks) == (["bob"], [])
    said = left_out(read)
    assert said.pop("bob/fifo.ipynb, a.zip", NO_FILE) == NO_FILE
    assert said == {
        f"/{EXERCISES}": "it is in no student's folder",
        f"bob/{EXERCISES}, week 2": A_LINK,
        "/eve, submitted": A_LINK,
    }


def in_deep_folders(file):
    put(file.parent.joinpath(*["deep"] * 60, EXERCISES), WORKED_IN)


def zeros(file):
    for number in range(3):
        with zipfile.ZipFile(file.with_name(f"{number}.zip"), "w", zipfile.ZIP_DEFLATED) as zipped:
            for part in range(4):
                zipped.writestr(f"{number}{part}", bytes(29_000_000))


def empty_entries(file):
    with zipfile.ZipFile(file, "w") as zipped:
        for number in range(2_001):
            zipped.writestr(f"{number}.ipynb", "")


@pytest.mark.parametrize(
    ("make", "why"),
    {
        in_deep_folders: "folders nested 50 deep",
        zeros: "1.zip, 2.zip: it holds 4 files, 116 MB, which is too much to unpack",
        empty_entries: "it holds 2,001 files, 0 MB, which is too much",
    }.items(),
)
def test_too_much_in_a_zip_costs_only_its_student(folder, class_folder, make, why):
    for student in ("ada", "bob", "cyd"):
        put(folder / student / EXERCISES, WORKED_IN)
    make(folder / "bob" / "work.zip")
    read = class_folder()
    assert [student for student, *_ in found(read)] == ["ada", "bob", "cyd"]
    assert {each.student for each in read.left_out} == {"bob"}
    assert why in " ".join(f"{each.file}: {each.reason}" for each in read.left_out)


def test_what_nobody_thought_of_costs_its_student_only(folder, class_folder, monkeypatch):
    for student in ("ada", "bob"):
        put(folder / student / EXERCISES, WORKED_IN)

    def find(entry, allowance, find=student_files._find_below):
        return find(entry, allowance) if entry.name == "ada" else 1 / 0

    monkeypatch.setattr(student_files, "_find_below", find)
    read = class_folder()
    assert [student for student, *_ in found(read)] == ["ada"]
    why = "it cannot be looked through (ZeroDivisionError: division by zero)"
    assert left_out(read) == {"bob/bob": why}


@pytest.mark.slow
def test_a_file_too_slow_to_read_costs_only_its_student(folder, course, monkeypatch):
    for name in ("ada/a.ipynb", "eve/01_mini_slow.ipynb", "fay/c.ipynb"):
        put(folder / name, WORKED_IN)
    monkeypatch.setattr(reading, "read_submission_of_any_lesson", read_or_end)
    with local_pool(1, task_seconds=600) as pool:
        read = read_handed_in(folder, course, folder.parent / "grades", pool)
    problems = {each.student: each.problem for each in read.notebooks}
    assert problems == {"ada": "", "eve": reading.TOO_LONG, "fay": ""}


def read_or_end(file, handed_out):
    """Read a file in a process that ends as by its alarm where the file is a slow one."""
    if "slow" in file.name:
        signal.raise_signal(signal.SIGALRM)
    return read_submission_of_any_lesson(file, handed_out)


def test_a_students_notebooks_are_read_first_and_for_limited_time(
    folder, class_folder, monkeypatch
):
    for name in ("a.txt", EXERCISES, "z.txt"):
        put(folder / "ada" / name, WORKED_IN)
    clock = SimpleNamespace(monotonic=iter([0, 0, 21, 21]).__next__)
    monkeypatch.setattr(reading, "time", clock)
    read = class_folder()
    assert found(read) == [("ada", "01_mini", EXERCISES)]
    assert left_out(read) == {"ada/z.txt, a.txt": reading.NOT_READ_IN_TIME}


@pytest.fixture
def without_roots_rights():
    """Take the right to open everything from this thread, where it is root's."""
    if sys.platform != "linux":
        pytest.skip("it is tried on Linux")
    libc, header = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 2)(0x20080522, 0)
    has = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, has) == 0
    # The effective ones, without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
    assert libc.capset(header, (ctypes.c_uint32 * 6)(has[0] & ~0b110, *has[1:])) == 0
    yield
    assert libc.capset(header, has) == 0


@pytest.mark.usefixtures("without_roots_rights")
def test_what_may_not_be_opened_costs_its_student_only(folder, class_folder):
    for student in ("ada", "bob", "cyd"):
        put(folder / student / EXERCISES, WORKED_IN)
    (folder / "ada" / EXERCISES).chmod(0)
    (folder / "bob").chmod(0)
    read = class_folder()
    (folder / "bob").chmod(0o700)
    assert [*read.submitters] == ["ada", "bob", "cyd"]
    reasons = {each.student: each.problem for each in read.notebooks}
    assert {each.student: each.is_failure for each in read.notebooks} == {"ada": True, "cyd": False}
    reasons |= {student: why for student, _, why in read.left_out}
    assert reasons.pop("cyd") == ""
    assert [*reasons] == ["ada", "bob"]
    assert all("the right to read it" in why for why in reasons.values())


def test_a_files_time_that_no_calendar_has_is_said_and_costs_nothing(folder, class_folder):
    file = put(folder / "ada" / EXERCISES, WORKED_IN)
    try:
        os.utime(file, (2**63 - 1,) * 2)
    except (OSError, OverflowError):
        pytest.skip("no file here can have this time")
    (submitted,) = class_folder().notebooks
    in_calendar = file.stat().st_mtime < 2.2e11  # a disk may have changed it
    assert in_calendar or submitted.remark == NO_TIME
