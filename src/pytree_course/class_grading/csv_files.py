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
    rows: dict[int, dict[str, str]] = {}
    names: list[str] = []
    begins = 1
    try:
        text = _decoded(file.read_bytes())
        first, _, _ = text.partition("\n")
        separator = max(",;\t", key=first.count)
        reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
        for cells in reader:
            if not names:
                names = cells
            elif any(cell.strip() for cell in cells[len(names) :]):
                raise csv.Error("it has more cells than there are columns: quote text with commas")
            elif cells:
                cells += [""] * (len(names) - len(cells))
                pairs = zip(names, cells, strict=False)
                rows[reader.line_num] = {name: cell.strip() for name, cell in pairs if name}
            begins = reader.line_num + 1
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(
            f"{file} cannot be read: {error}. Name a CSV file with the columns {columns}."
        ) from error
    except csv.Error as error:
        raise CourseError(
            f"{file} cannot be read from line {begins} on: {error}. It should be a CSV file with "
            f"the columns {columns}."
        ) from error
    return names, rows


def _decoded(data: bytes) -> str:
    """Return a CSV file's text: in UTF-8, in Excel's UTF-16, or as Windows writes it in Europe."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")
