"""The teachers' commands: what they refuse, what they warn of, and how a class joins."""

import re

import pytest

from pytree_course.class_grading.downloads import CANVAS, MOODLE, Submitter
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.student_files import LeftOut
from pytree_course.cli.teacher import _warn_about_files
from tests.conftest import edit, put
from tests.made_grades import NOON
from tests.made_submissions import ELEMENTS, NODES, RIGHT


def test_a_deadline_is_remembered_and_a_lost_mark_told(quick):
    roster = quick.folder.parent / "class.csv"
    roster.write_text("student,name,group\nada,,team\nbob,,team\n")
    quick.hand_in("team", RIGHT)
    quick.run_here("--roster", str(roster), "--due", "2020-01-01")
    quick.run_here()  # both are remembered
    assert (quick.into / "grades.csv").read_text().count(',"graded","fresh",') == 2
    with quick.gradebook() as gradebook:
        assert [*gradebook.memory().due] == ["01_mini"]
    roster.write_text("student,name\nada,\nbob,\n")
    said = quick.run_here("--roster", str(roster)).stdout
    assert "Changed mark: bob, 01_mini: 3 → none (nothing that was" in " ".join(said.split())


def test_a_lesson_that_is_not_built_is_refused_with_the_command(quick):
    quick.hand_in("ada", RIGHT)
    edit(quick.course.lesson("01_mini").sources / "answers.py", "You count", "You are counting")
    refused = quick.run_here()
    assert refused.returncode == 2
    assert "Nothing was graded. The sources of 01_mini have changed" in refused.stderr
    assert "python3 course.py build 01_mini" in refused.stderr


@pytest.mark.slow
def test_public_cases_have_to_be_accepted_and_are_shown_everywhere(made):
    made.hand_in("ada", RIGHT)
    sources = made.course.lesson("01_mini").sources
    away = sources.rename(sources.with_name("away"))
    refused = made.run_here("--unsandboxed")
    assert refused.returncode == 2
    assert "Nothing was graded. There is no sources/01_mini here" in refused.stderr
    assert refused.stderr.rstrip().endswith("accept it with --public-cases.")
    assert not made.into.exists()
    done = made.run_here("--unsandboxed", "--public-cases")
    assert done.returncode == 0
    _, first, *_, last = done.stderr.strip().splitlines()  # the sandbox comes first
    assert "graded on the public cases only" in first
    assert last.startswith("01_mini: graded on the public cases only")
    assert "01_mini: graded on the public cases only" in (made.into / "report.html").read_text()
    page = (made.into / "students" / "ada.html").read_text()
    assert "Graded on the cases that your own check uses, too." in page
    assert '"graded","public",' in (made.into / "grades.csv").read_text()
    (attempt,) = made.attempts()
    assert attempt.on_public_cases
    away.rename(sources)
    assert made.grade().graded == 1  # now there are fresh cases
    assert [each.on_public_cases for each in made.attempts()] == [True, False]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "apt install bubblewrap"),
        (("--unsandboxed", "--lesson", "9"), "There is no lesson '9'"),
        (("--unsandboxed", "--roster", "none.csv"), "none.csv cannot be read"),
        (("--unsandboxed", "--due", "soon"), "--due soon is not a time"),
        (("--unsandboxed", "--classroom", "none"), "none holds no class"),
    ],
)
def test_without_bubblewrap_or_with_wrong_options_nothing_is_written(
    made, tmp_path, monkeypatch, arguments, said
):
    made.hand_in("ada", RIGHT)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = made.run_here(*arguments)
    assert refused.returncode == 2
    assert "Nothing was graded. " in refused.stderr
    assert said in refused.stderr
    assert not made.into.exists()


def test_an_unwritable_page_costs_no_grade_and_no_other_page(made):
    made.hand_in("ada", {})
    made.hand_in("bob", {})
    for name in ("grades.csv", "students/ada.html"):  # it may as well be open in a spreadsheet
        (made.into / name).mkdir(parents=True)
    done = made.run_here("--unsandboxed")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "The grades are in the gradebook" in said
    assert "grades.csv: Is a directory" in said
    assert "ada.html: Is a directory" in said
    assert made.points() == {"ada": 0, "bob": 0}
    written = {file.name for file in made.into.rglob("*") if file.is_file()}
    assert {"bob.html", "report.html", "exercises.csv", "canvas.csv"} <= written
    assert not [*made.into.rglob("*.part")]


@pytest.mark.slow
def test_new_cases_and_force_grade_everyone_again_and_a_failure_is_the_status(quick, monkeypatch):
    quick.hand_in("ada", RIGHT)
    quick.hand_in("bob", ELEMENTS)
    assert quick.run_here().returncode == 0
    assert "2 graded, 0 had not changed" in quick.run_here("--force").stdout
    assert len(quick.seeds()) == 1
    assert "2 graded, 0 had not changed" in quick.run_here("--new-cases").stdout
    assert len(quick.seeds()) == 2
    monkeypatch.setattr("pytree_course.class_grading.grade_class.run_answers", lambda *_: 1 / 0)
    failed = quick.run_here("--force")
    assert failed.returncode == 1
    assert "bob: 01_mini, failed: ZeroDivisionError" in failed.stdout


def test_an_appeal_shows_earlier_gradings_of_this_student_and_needs_one(quick, course_py):
    for answers in (ELEMENTS, NODES):
        quick.hand_in("ada", RIGHT)
        quick.hand_in("bob", answers)
        quick.grade()
    heard = course_py("appeal", quick.into, "bob", "1", "count_leaves", "--unsandboxed")
    assert heard.returncode == 0
    assert len(re.findall("Earlier, graded .*, another answer: incorrect", heard.stdout)) == 1
    assert heard.stdout.count("Earlier") == 1
    roster = put(quick.into.parent / "class.csv", "student\nbob\ndan\n")
    course_py("grade", "--into", quick.into, "--roster", roster)
    refused = course_py("appeal", quick.into / "gradebook.sqlite", "dan", "1", "count_leaves")
    assert "Nothing that dan handed in for 01_mini was graded." in refused.stderr


@pytest.mark.parametrize(
    ("systems", "deadline", "said"),
    [
        ([CANVAS, MOODLE, ""], NOON, "A download from Canvas or Moodle does not say for certain"),
        ([CANVAS], None, "Left out: "),
        ([""], NOON, "Left out: "),
    ],
)
def test_files_left_out_are_named_up_to_a_number_and_downloads_have_no_deadline(
    capsys, systems, deadline, said
):
    submitters = {f"s{number}": Submitter("s", system=each) for number, each in enumerate(systems)}
    files = [LeftOut("ada", f"{number}\x1b.pdf", "a PDF") for number in range(22)]
    _warn_about_files(ClassFolder(submitters, [], files, ["Who is \x1b?"]), deadline)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(said)
    assert [line for line in lines if line.startswith("Left out: ")] == [
        f"Left out: ada/{number}\\x1b.pdf: a PDF" for number in range(20)
    ]
    assert lines[-2:] == [
        "… and 2 more are left out: the report and grades.csv say why.",
        "Who is \\x1b?",
    ]
    _warn_about_files(ClassFolder(submitters, [], files[:20]), None)
    assert "more" not in capsys.readouterr().err


@pytest.mark.parametrize(("host", "is_open"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_class_is_told_how_to_join_and_the_teacher_who_can(
    course_py, monkeypatch, tmp_path, host, is_open
):
    async def serve(pages, sockets, encryption):
        for each in sockets:
            each.close()

    monkeypatch.setattr("pytree_course.board.server.serve", serve)
    file = tmp_path / "class.sqlite"
    told = course_py("classroom", "--host", host, "--port", "0", "--into", file)
    assert told.returncode == 0
    address, code = re.search(r'join\("(http://[\d.]+:\d+)", "(\w{6})"\)', told.stdout).groups()
    assert ("//127." in address) or is_open
    assert "0.0.0.0" not in address
    assert f"Your board: {address}/board?token=" in told.stdout
    assert ("Only this machine can join." in told.stdout) != is_open
    assert ("the network can read everything" in told.stderr) == is_open
    again = course_py("classroom", "--port", "0", "--into", file)
    assert code in again.stdout  # the session goes on


@pytest.mark.parametrize(
    ("file", "said"), [("q.txt", "should end in .md, .ipynb (slides) or .xml"), ("q.md", "has no")]
)
def test_questions_that_cannot_be_written_are_refused(course_py, tmp_path, file, said):
    refused = course_py("questions", "1", "--into", tmp_path / file)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert not (tmp_path / file).exists()
