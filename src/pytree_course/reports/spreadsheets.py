"""CSV that no spreadsheet takes for more than text and numbers."""

import csv
import io
import re
from collections.abc import Sequence

from pytree_course.printable import JOINERS, printable
from pytree_course.texts import truncate

LONGEST_FIELD = 2_000  # a spreadsheet breaks one of more than 32,767 characters in two

_SIGNS = "=+@-＝＋＠－﹦﹢﹫﹣⁼⁺⁻₌₊₋−"
_CELL_ENDS = re.compile(r"([;\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029])")
_FORMULA = re.compile(rf'[\s"{JOINERS}]*[{re.escape(_SIGNS)}]')


class ImportKey(str):
    """A text that another program looks a student up by: it is written letter by letter."""


def to_csv(rows: Sequence[Sequence[str | int]]) -> str:
    """Return rows as CSV: every field is quoted, and a text is on one line and no formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([_field(cell) for cell in row] for row in rows)
    return text.getvalue()


def plain_text(text: str) -> str:
    """Return an untrusted text such that every spreadsheet takes it for text.

    It becomes one line, printable and not too long. An apostrophe is put wherever a cell could
    begin with `=`, `+`, `-`, `@`, or with another form of them, such as the full-width ones that
    spreadsheets in East Asia read as the plain ones. A cell can begin with the field, and, since
    spreadsheets in many countries split at semicolons and not at commas, after a semicolon; also
    after a tab and a line end, which become blanks here. Blanks and quotes before the sign do not
    count. This is what OWASP says of "CSV Injection", for each of those beginnings.
    """
    return "".join(map(_part, _CELL_ENDS.split(truncate(text, LONGEST_FIELD))))


def _part(part: str) -> str:
    if _CELL_ENDS.fullmatch(part):
        return ";" if part == ";" else " "
    shown = printable(part)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def _field(cell: str | int) -> str | int:
    return cell if isinstance(cell, int | ImportKey) else plain_text(cell)
