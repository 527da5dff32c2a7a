"""Read the CSV files that a teacher gives, also those that spreadsheets save."""

import codecs
import csv
import re
import unicodedata
from io import StringIO
from pathlib import Path

from pytree_course.course import CourseError

_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how .xlsx, .ods and .xls begin
_FORMULA = re.compile(r"""(^|;)'(?='*[\s"]*[=+@-])""")
"""The apostrophe that the course's own tables put before what a spreadsheet would run."""
_HEADER = re.compile(r'(?im)^(.*[,;\t])?[ "]*(student|identifier)[ "]*([,;\t].*)?$')
"""The line with the columns: a title may stand above it, or Excel's `sep=;`."""


def read_csv(file: Path, columns: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Read a CSV file: its column names, and its rows by the number of their last line.

    Spaces around cells are removed. Excel's files are supported: with semicolons or tabs, and in
    the encodings of Windows; lines above the one with the columns are skipped. A CourseError says
    that it should have `columns`.
    """
    rows: dict[int, dict[str, str]] = {}
    try:
        data = file.read_bytes()
        if data.startswith(_WORKBOOKS):
            raise CourseError(f"{file} is an Excel workbook: save it as CSV, and name that file.")
        text = _decode(data)
        match = _HEADER.search(text)
        start = match.start() if match else 0
        table, lines_above = text[start:], text.count("\n", 0, start)
        header, _, _ = table.partition("\n")
        separator = max(",;\t", key=header.count)
        lines = StringIO(table, newline="")
        reader = csv.DictReader(lines, restval="", delimiter=separator, strict=True)
        names = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = names
        for row in reader:
            if any(cell.strip() for cell in row.pop(None, ())):
                raise csv.Error("it has more cells than there are columns: quote text with commas")
            rows[lines_above + reader.line_num] = {
                name: _FORMULA.sub(r"\1", cell.strip()) for name, cell in row.items()
            }
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        next_line = max(rows, default=1) + 1  # after the last row that was read
        position = f" from line {next_line} on" if isinstance(error, csv.Error) else ""
        advice = f"It should be a CSV file with the columns {columns}."
        raise CourseError(f"{file} cannot be read{position}: {error}. {advice}") from error
    return names, rows


def _decode(data: bytes) -> str:
    """Decode a CSV file from UTF-8, Excel's UTF-16 or the encoding of Windows in western Europe.

    Letters and accents are composed, as in all names of students.
    """
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    return unicodedata.normalize("NFC", text)
