"""From a download to what is imported: zips of platforms are graded as they come."""

import csv
import io
import zipfile

import pytest

from tests.made_submissions import ELEMENTS, RIGHT, MadeClass

pytestmark = pytest.mark.slow


class Download(MadeClass):
    """A zip that students' notebooks come in."""

    def __init__(self, course, course_py, tmp_path):
        super().__init__(course, course_py, tmp_path)
        self.folder = tmp_path / "submissions.zip"
        self.written = tmp_path / "written"

    def put(self, name, answers):
        zipped, self.folder = self.folder, self.written
        text = b"%PDF" if answers is None else self.hand_in("anybody", answers).read_bytes()
        self.folder = zipped
        with zipfile.ZipFile(self.folder, "a") as opened:
            opened.writestr(name, text)

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
