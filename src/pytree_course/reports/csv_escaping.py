"""CSV that is safe to open in a spreadsheet: no text in it is taken for a formula."""

import csv
import io
import re
from collections.abc import Sequence

from pytree_course.texts import JOINERS, printable, truncate

LONGEST_FIELD = 2_000  # a spreadsheet breaks one of more than 32,767 characters in two

_SIGNS = "=+@-＝＋＠－﹦﹢﹫﹣⁼⁺⁻₌₊₋−"
_CELL_ENDS = re.compile(r"([;\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029])")
_FORMULA = re.compile(rf'[\s"{JOINERS}]*[{re.escape(_SIGNS)}]')


def to_csv(rows: Sequence[Sequence[str | int]]) -> str:
    """Return rows as CSV: every field is quoted, and a text is on one line and no formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([_field(cell) for cell in row] for row in rows)
    return text.getvalue()


def plain_text(text: str) -> str:
    """Escape an untrusted text, so that every spreadsheet takes it for text.

    The result is one printable line, shortened if need be. As OWASP advises against "CSV
    injection", an apostrophe is put wherever a cell could begin with `=`, `+`, `-` or `@`, blanks
    and quotes before the sign left aside. Full-width and other forms of these signs count too:
    spreadsheets in East Asia read them as the plain ones. A cell begins with the field. It also
    begins after a semicolon, where spreadsheets in many countries split instead of at commas, and
    after a tab or a line end, which become blanks here.
    """
    return "".join(map(_part, _CELL_ENDS.split(truncate(text, LONGEST_FIELD))))


def _part(part: str) -> str:
    if _CELL_ENDS.fullmatch(part):
        return ";" if part == ";" else " "
    shown = printable(part)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def _field(cell: str | int) -> str | int:
    return cell if isinstance(cell, int) else plain_text(cell)
