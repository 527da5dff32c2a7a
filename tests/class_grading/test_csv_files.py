"""The CSV files of teachers: read as spreadsheets save them, refused with the line."""

import pytest

from pytree_course.class_grading.csv_files import read_csv
from pytree_course.course import CourseError
from tests.conftest import put


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_what_excel_saves_is_read(tmp_path, separator, encoding):
    file = tmp_path / "class.csv"
    text = "student,name\r\nada,Ada Lovelace,\r\njm,Jürgen Müller\r\n".replace(",", separator)
    file.write_bytes(text.encode(encoding))
    names, rows = read_csv(file, "")
    assert names == ["student", "name"]
    assert rows == {
        2: {"student": "ada", "name": "Ada Lovelace"},
        3: {"student": "jm", "name": "Jürgen Müller"},
    }


@pytest.mark.parametrize("above", ["sep=;\r\n", "Our class, 2026\n\n", "\n"])
def test_a_title_above_the_columns_blanks_and_missing_cells_do_not_matter(tmp_path, above):
    text = f"{above} Student ; Name\nada ; Ada Lovelace\nzoe\u0308\n"
    names, rows = read_csv(put(tmp_path / "class.csv", text), "")
    assert names == ["Student", "Name"]
    lines = above.count("\n")
    assert rows == {
        lines + 2: {"Student": "ada", "Name": "Ada Lovelace"},
        lines + 3: {"Student": "zo\xeb", "Name": ""},  # letters and accents in one form
    }


@pytest.mark.parametrize(
    ("written", "cell"),
    [("-ada", "-ada"), ("'=ada", "=ada"), ("'ada", "'ada"), ("a;'@b", "a;@b"), ("''+a", "'+a")],
)
def test_only_the_apostrophe_that_our_tables_put_before_a_formula_is_removed(
    tmp_path, written, cell
):
    file = put(tmp_path / "class.csv", f'student,name\n"{written}",Ada\n')
    assert read_csv(file, "")[1][2]["student"] == cell


REFUSED = {
    "student,name\nada,Ada,Lovelace\n": r"cannot be read from line 2 on: it has more cells",
    'student,name\nada,"A\nB"\nbob,"x"y\n': "cannot be read from line 4 on: ",
    "PK\x03\x04": "is an Excel workbook: save it as CSV",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_a_file_that_is_no_such_table_is_refused_with_the_line(tmp_path, text, said):
    with pytest.raises(CourseError, match=said):
        read_csv(put(tmp_path / "class.csv", text), "student")
    with pytest.raises(CourseError, match=r"cannot be read: .* with the columns student\.$"):
        read_csv(tmp_path / "missing.csv", "student")
