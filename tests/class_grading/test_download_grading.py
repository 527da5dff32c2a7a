"""From a download to what is imported: Canvas's and Moodle's own zips are graded as they come."""

import csv
import io
import zipfile

import pytest

from tests.made_submissions import ELEMENTS, NODES, RIGHT, MadeClass

pytestmark = pytest.mark.slow


class Download(MadeClass):
    """A zip that students' notebooks come in."""

    def __init__(self, course, course_py, tmp_path):
        super().__init__(course, course_py, tmp_path)
        self.folder = tmp_path / "submissions.zip"
        self.written = tmp_path / "written"
        self.moment = (2026, 11, 20, 9, 0, 0)  # the download's

    def put(self, name, answers):
        zipped, self.folder = self.folder, self.written
        text = b"%PDF" if answers is None else self.hand_in("anybody", answers).read_bytes()
        self.folder = zipped
        with zipfile.ZipFile(self.folder, "a") as opened:
            opened.writestr(zipfile.ZipInfo(name, self.moment), text)

    def next_download(self):
        self.folder.unlink()
        self.moment = (2026, 11, 27, 9, 0, 0)

    def table(self, name):
        return [*csv.DictReader(io.StringIO((self.into / name).read_text()))]

    def feedback(self, system):
        with zipfile.ZipFile(self.into / f"feedback-{system}.zip") as zipped:
            return {name: zipped.read(name).decode() for name in sorted(zipped.namelist())}

    def run_here(self, *arguments):
        done = super().run_here(*arguments, "--unsandboxed")
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture
def made(made, tmp_path):
    return Download(made.course, made.course_py, tmp_path)


def test_canvass_zip_becomes_a_table_that_canvas_imports(quick):
    quick.put("submissions/lovelaceada_12345_678901_01_mini_exercises-1.ipynb", RIGHT)
    quick.put("submissions/raybob_LATE_77_678902_01_mini_exercises.ipynb", ELEMENTS)
    quick.put("submissions/meyercy_78_678903_my homework.pdf", None)
    quick.put("submissions/anon_aB3dE_3_01_mini_exercises.ipynb", RIGHT)
    roster = quick.into.parent / "class.csv"
    roster.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (91),Talk 2 (92),Final Score\n"
        '"Lovelace, Ada",12345,u1,ada,One,,,\n'
        '"Ray, Bob",77,u2,bob,One,,,\n'
        '"Meyer, Cy",78,u3,cy,One,,,\n'
    )
    err = quick.run_here("--roster", str(roster)).stderr
    assert "78/meyercy_78_678903_my homework.pdf: it is a PDF, not a notebook" in err
    assert "Not in canvas.csv, for Canvas did not say who it is: anon_aB3dE." in err
    report = (quick.into / "report.html").read_text("utf-8")
    assert "late, says Canvas" in report
    assert "Lovelace, Ada (ada)" in report
    points, *rows = quick.table("canvas.csv")
    lesson = [*points][-1]
    assert lesson == "Homework 1 (91)"  # Canvas's own, so that it asks for nothing
    assert points["Student"].strip() == "Points Possible"
    assert [(row["Student"], row["ID"], row["SIS Login ID"], row[lesson]) for row in rows] == [
        ("Lovelace, Ada", "12345", "ada", "3"),
        ("Meyer, Cy", "78", "cy", ""),
        ("Ray, Bob", "77", "bob", "0"),
    ]
    assert [*quick.feedback("canvas")] == [  # the ids by which Canvas finds the submission
        "anon_aB3dE_3_01_mini_exercises.html",
        "lovelaceada_12345_678901_01_mini_exercises-1.html",
        "raybob_LATE_77_678902_01_mini_exercises.html",
    ]


def test_a_zip_runs_once_and_a_newer_one_only_new_work(quick):
    quick.put("lovelaceada_12345_1_01_mini_exercises.ipynb", RIGHT)
    quick.put("raybob_77_2_01_mini_exercises.ipynb", ELEMENTS)
    assert "2 graded, 0 had not changed" in quick.run_here().stdout
    assert "0 graded, 2 had not changed" in quick.run_here().stdout
    quick.next_download()  # of those who handed in again, it has the last file only
    quick.put("raybob_77_3_01_mini_exercises-1.ipynb", NODES)
    assert "1 graded, 1 had not changed" in quick.run_here().stdout
    rows = {row["student"]: row for row in quick.table("grades.csv")}
    assert {student: row["points"] for student, row in rows.items()} == {"12345": "3", "77": "0"}
    assert {row["handed_in"] for row in rows.values()} == {""}  # it is not known
    assert "handed in" not in (quick.into / "students" / "77.html").read_text()
    assert [row["Student"] for row in quick.table("canvas.csv")][1:] == ["lovelaceada", "raybob"]
    (_, last) = [each for each in quick.attempts() if each.student == "77"]
    assert last.file.endswith("raybob_77_3_01_mini_exercises-1.ipynb")


def test_moodles_names_become_usernames_or_are_named_as_unknown(quick):
    quick.put("Ada Lovelace_501_assignsubmission_file_/01_mini_exercises.ipynb", RIGHT)
    quick.put("Bob Ray_502_assignsubmission_file_/01_mini_exercises (1).ipynb", ELEMENTS)
    quick.put("Bob Ray_502_assignsubmission_onlinetext_/onlinetext.html", {})
    roster = quick.into.parent / "class.csv"
    roster.write_text("student,name\nada,Ada Lovelace\ncy,Cy Twombly\n")
    err = quick.run_here("--roster", str(roster)).stderr
    assert "Ada Lovelace (ada)" in (quick.into / "report.html").read_text("utf-8")
    assert "Bob Ray_502_assignsubmission_onlinetext_: it is Moodle's onlinetext, not a file" in err
    assert "for Moodle's downloads do not say usernames: Bob Ray." in err
    ((name, page),) = quick.feedback("moodle").items()
    assert name == "Ada Lovelace_501_assignsubmission_file/feedback.html"
    assert "Grades of Ada Lovelace (ada)" in page
    assert [[*row.values()] for row in quick.table("moodle.csv")] == [["ada", "3"], ["cy", ""]]
    assert {row["student"]: row["on_list"] for row in quick.table("grades.csv")} == {
        "Ada Lovelace": "yes",
        "Bob Ray": "no",
        "cy": "yes",
    }
    roster.write_text("student,name\nada,Ada Lovelace\nbob,Bob Ray\n")
    again = quick.run_here("--roster", str(roster))
    assert "0 graded, 2 had not changed" in again.stdout
    assert "Not in" not in again.stderr
    assert [row["username"] for row in quick.table("moodle.csv")] == ["ada", "bob"]


@pytest.mark.parametrize(
    "name",
    [
        "Team A_12_assignsubmission_file/01_mini_exercises.ipynb",
        "teama_7_678901_01_mini_exercises.ipynb",
    ],
)
def test_a_groups_work_counts_for_its_members_and_one_correction_is_enough(quick, name):
    quick.put(name, ELEMENTS)
    quick.put("lovelacecy_9_5_01_mini_exercises.ipynb", RIGHT)
    roster, corrections = (quick.into.parent / name for name in ("class.csv", "corrections.csv"))
    roster.write_text(
        "student,name,canvas_id,group\n"
        "ada,Ada,7,Team_A\nbob,Bob,8,Team_A\ncy,Cy,9,Team_A\ndan,Dan,10,Team_B\n"
    )
    options = "--roster", str(roster)
    quick.run_here(*options)
    corrections.write_text("student,lesson,exercise,points,comment\nbob,1,count_leaves,0.5,")
    said = quick.run_here(*options, "--corrections", str(corrections)).stdout
    for student in ("Ada (ada)", "Bob (bob)"):
        assert f"{student}, 01_mini: 0 → 0.5 (a correction)" in " ".join(said.split())
    rows = {row["name"]: (row["points"], row["reason"]) for row in quick.table("grades.csv")}
    assert rows == {
        "Ada": ("0.5", "handed in for the group Team_A"),
        "Bob": ("0.5", "handed in for the group Team_A"),
        "Cy": ("3", "handed in alone, not with the group Team_A"),
        "Dan": ("0", ""),
    }
    points = {row["Student"]: [*row.values()][-1] for row in quick.table("canvas.csv")[1:]}
    assert points == {"Ada": "0.5", "Bob": "0.5", "Cy": "3", "Dan": ""}
    assert "handed in for the group Team_A" in (quick.into / "students" / "bob.html").read_text()
    answers = (quick.into / "answers.html").read_text()
    assert answers.count("data-student=") == 4  # two exercises, of the group and of Cy
    assert not (quick.into / "feedback-moodle.zip").exists()  # its number may be a student's
