"""The CSV files that a teacher gives: plain ones, and what spreadsheets save."""

import codecs
import csv
from io import StringIO
from pathlib import Path

from pytree_course.course import CourseError


def read_csv(file: Path, columns: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Read a CSV file: the names in its first line, and the rows below by where they end.

    Blanks around cells are cut off. Excel's files are read too: with semicolons or tabs, and in
    the encodings of Windows.

    Parameters
    ----------
    file
        The file.
    columns
        Its columns, in words, for the message of an error.

    Raises
    ------
    CourseError
        When it cannot be read.
    """
    try:
        text = _decoded(file.read_bytes())
        first, _, _ = text.partition("\n")
        separator = max(",;\t", key=first.count)
        reader = csv.DictReader(StringIO(text, newline=""), delimiter=separator, restval="")
        rows = {}
        for row in reader:
            rows[reader.line_num] = {name: cell.strip() for name, cell in row.items() if name}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(
            f"{file} cannot be read: {error}. Name a CSV file with the columns {columns}."
        ) from error
    return list(reader.fieldnames or ()), rows


def _decoded(data: bytes) -> str:
    """Return a CSV file's text: in UTF-8, in Excel's UTF-16, or as Windows writes it in Europe."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")
