"""A zip of a class's work is unpacked safely: each notebook in its place, the rest said."""

import stat
import time
import zipfile

import pytest

from pytree_course.class_grading import archive
from pytree_course.course import CourseError
from tests.made_submissions import WORKED_IN, read_class

A_PDF = "it is a PDF, not a notebook"


class Zip:
    """A zip that a test puts entries into."""

    def __init__(self, tmp_path):
        self.file = tmp_path / "submissions.zip"
        self.into = tmp_path / "grades"

    def put(self, name, text=WORKED_IN, moment=(2026, 11, 21, 12, 30, 0), mode=0, utf8=True):
        info = zipfile.ZipInfo(name, moment)
        info.external_attr = mode << 16
        with zipfile.ZipFile(self.file, "a", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr(info, text)
        if not utf8:  # as where a program writes UTF-8 and does not say so
            data = bytearray(self.file.read_bytes())
            for at in (data.index(b"PK\x03\x04") + 7, data.index(b"PK\x01\x02") + 9):
                data[at] &= ~0x08
            self.file.write_bytes(data)

    def read(self, course):
        found = self.found(course)
        files = [(each.student, each.file.name) for each in found.notebooks]
        return files, {f"{student}/{file}": why for student, file, why in found.left_out}

    def found(self, course):
        return read_class(self.file, course)


@pytest.fixture
def zipped(tmp_path):
    return Zip(tmp_path)


@pytest.mark.parametrize("students", [["ada"], ["ada", "bob"]])
@pytest.mark.parametrize(
    "layout",
    [
        "{}/01_mini_exercises.ipynb",
        "{}/01_mini/01_mini_exercises.ipynb",
        "handed-in/{}/01_mini_exercises.ipynb",
        "handed-in\\{}\\01_mini_exercises.ipynb",
        "submitted/{}/01_mini/01_mini_exercises.ipynb",
        "week/submitted/{}/01_mini/01_mini_exercises.ipynb",
        "{}_assignsubmission_file/01_mini_exercises.ipynb",
        "up/{}_assignsubmission_file/01_mini_exercises.ipynb",
    ],
)
def test_every_layout_is_found_in_a_zip_also_below_other_folders(zipped, course, layout, students):
    for student in students:
        zipped.put(layout.format(student))
    zipped.put("__MACOSX/ada/._01_mini_exercises.ipynb")
    zipped.put("handed-in/.DS_Store")
    zipped.put("handed-in/__pycache__/x.pyc")
    files, ignored = zipped.read(course)
    assert [student for student, _ in files] == students
    assert ignored == {}


def test_a_zip_knows_students_without_notebooks_and_the_files_times(zipped, course):
    zipped.put("ada/01_mini_exercises.ipynb")
    zipped.put("bob/essay.pdf", "%PDF")
    zipped.put("cyd/")
    zipped.put("dan/01_mini_exercises.ipynb", moment=(1980, 1, 1, 0, 0, 0))  # for want of a time
    zipped.put("week 2.zip")
    found = zipped.found(course)
    assert [*found.submitters] == ["ada", "bob", "cyd", "dan"]
    assert [*found.left_out] == [
        ("", "week 2.zip", "it is in no student's folder"),
        ("bob", "essay.pdf", A_PDF),
    ]
    moment = time.mktime((2026, 11, 21, 12, 30, 0, 0, 0, -1))
    assert found.notebooks[0].handed_in.timestamp() == moment
    assert found.notebooks[1].handed_in.year > 1980


@pytest.mark.parametrize("layout", ["{}/hw1.zip", "{}.zip"])
def test_a_zip_of_each_student_is_read_in_its_place(zipped, course, tmp_path, layout):
    inner = Zip(tmp_path / "inner")
    inner.file.parent.mkdir()
    inner.put("week 1/Copy of 01_mini_exercises.ipynb")
    inner.put("notes.pdf", "%PDF")
    inner.put("more.zip")
    for student in ("ada", "bob"):
        zipped.put(layout.format(student), inner.file.read_bytes())
    files, left_out = zipped.read(course)
    name = "Copy of 01_mini_exercises.ipynb"
    assert files == [("ada", name), ("bob", name)]
    zip_of_ada = layout.format("ada").split("/")[-1]
    assert left_out[f"ada/{zip_of_ada}/notes.pdf"] == A_PDF
    assert left_out[f"ada/{zip_of_ada}/more.zip"] == "it is a zip in a zip: unpack it"


def test_nothing_escapes_or_is_followed(zipped, course, tmp_path):
    zipped.put("ada/01_mini_exercises.ipynb")
    zipped.put("../bob/01_mini_exercises.ipynb")
    zipped.put("/dan/01_mini_exercises.ipynb")
    zipped.put("C:\\01_mini_exercises.ipynb")
    zipped.put("eve/01_mini_exercises.ipynb", "/etc/passwd", mode=stat.S_IFLNK | 0o777)
    zipped.put("fay/01_mini_exercises.ipynb", mode=stat.S_IFIFO | 0o777)
    zipped.put("a\x1b[2J\nb\u202e/01_mini_exercises.ipynb")
    files, ignored = zipped.read(course)
    students = ["C:", r"a\x1b[2J\nb\u202e", "ada", "bob", "dan", "eve", "fay"]
    assert [student for student, _ in files] == students
    assert ignored == {}
    assert all(file.is_file() and not file.is_symlink() for file in zipped.into.rglob("*.ipynb"))
    assert {file.name for file in tmp_path.iterdir()} == {"submissions.zip", "grades", "course"}


def test_damaged_entries_cost_themselves_only(zipped, course):
    zipped.put("ada/01_mini_exercises.ipynb")
    zipped.put("old/01_mini_exercises.ipynb", moment=(1980, 0, 0, 0, 0, 0))
    zipped.put("new/01_mini_exercises.ipynb", moment=(2107, 15, 31, 31, 63, 62))
    zipped.put("/".join(["y" * 250] * 18) + "/01_mini_exercises.ipynb")  # longer than a path may be
    zipped.put("large/01_mini_exercises.ipynb")
    zipped.put("longer/01_mini_exercises.ipynb", "0" * 10_000_000)
    zipped.put("secret/01_mini_exercises.ipynb")
    zipped.put("torn/01_mini_exercises.ipynb", '{"first": 1}')
    data = bytearray(zipped.file.read_bytes())
    large = data.rindex(b"large/01_mini_exercises.ipynb") - 46
    data[large + 24 : large + 28] = (10**9).to_bytes(4, "little")  # its header lies about its size
    for at in (data.index(b"longer/") - 30 + 22, data.rindex(b"longer/") - 46 + 24):
        data[at : at + 4] = (1_000).to_bytes(4, "little")
    for at in (data.index(b"secret/") - 30 + 6, data.rindex(b"secret/") - 46 + 8):
        data[at] |= 1  # it is encrypted
    torn = data.index(b"torn/01_mini_exercises.ipynb") + len("torn/01_mini_exercises.ipynb")
    data[torn : torn + 3] = b"\xff\xff\xff"
    zipped.file.write_bytes(data)
    files, ignored = zipped.read(course)
    assert {student for student, _ in files} >= {"ada", "old", "new"}
    reasons = {file.split("/")[0]: why for file, why in ignored.items()}
    assert reasons[""] == "it cannot be unpacked: File name too long"
    assert reasons["large"] == "it is larger than 30 MB: clear its cells' outputs"
    assert reasons["secret"] == archive.HAS_PASSWORD
    for damaged in ("longer", "torn"):
        assert reasons[damaged].startswith("it cannot be unpacked: ")


def test_names_in_zips_are_utf_8_and_others_are_doubted(zipped, course):
    zipped.put("Zoë Müller/01_mini_exercises.ipynb", utf8=False)
    found = zipped.found(course)
    assert ([*found.submitters], found.doubts) == (["Zoë Müller"], [])
    data = zipped.file.read_bytes()
    for letter in "ëü":  # as in the code page of its console; the sizes are those of two letters
        data = data.replace(letter.encode(), f"{letter}_".encode("cp437"))
    zipped.file.write_bytes(data)
    found = zipped.found(course)
    assert [*found.submitters] == ["Zoë_ Mü_ller"]
    assert "are not in UTF-8" in found.doubts[0]


def test_the_same_zip_is_unpacked_once_a_newer_one_elsewhere(zipped, course):
    zipped.put("ada/01_mini_exercises.ipynb")
    first = zipped.found(course).notebooks
    assert zipped.found(course).notebooks == first
    zipped.put("bob/01_mini_exercises.ipynb")
    second = zipped.found(course).notebooks
    assert len(second) == 2
    assert first[0].file != second[0].file
    assert first[0].file.exists()


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x05\x06" + b"\0" * 17, "no UTF-8"])
def test_a_zip_that_cannot_be_unpacked_is_refused(zipped, course, data):
    if data == "no UTF-8":  # and says that it is
        zipped.put("zo\xeb/01_mini_exercises.ipynb")
        zipped.into.write_text("my notes")
        with pytest.raises(CourseError, match="cannot be unpacked into"):
            zipped.read(course)
        data = zipped.file.read_bytes().replace("zo\xeb".encode(), b"zo\xed\xa0")
    zipped.file.write_bytes(data)
    with pytest.raises(CourseError, match="neither a folder nor a zip that can be read"):
        zipped.read(course)


def test_a_zip_with_a_password_is_refused(zipped, course):
    zipped.put("ada/01_mini_exercises.ipynb")
    data = bytearray(zipped.file.read_bytes())
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1  # it is encrypted
    zipped.file.write_bytes(data)
    with pytest.raises(CourseError, match="has a password: unpack it yourself"):
        zipped.read(course)
