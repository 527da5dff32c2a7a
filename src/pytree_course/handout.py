"""Hand out a fresh exercise notebook without losing what a learner wrote in the old one."""

import json
import shutil
from pathlib import Path

from pytree_course.layout import LessonFiles


def hand_out(files: LessonFiles) -> Path | None:
    """Put a fresh exercise notebook in its place.

    Parameters
    ----------
    files
        The lesson's files.

    Returns
    -------
    Path or None
        Where the old notebook was kept, when it held anything that the fresh one does not.

    Raises
    ------
    FileNotFoundError
        When this copy of the course has no fresh notebook of the lesson.
    """
    if not files.blank.exists():
        raise FileNotFoundError(f"{files.blank} is missing: fetch the course's files again.")
    kept = keep(files.exercises, files.blank.read_text(encoding="utf-8"))
    files.exercises.parent.mkdir(exist_ok=True)
    shutil.copyfile(files.blank, files.exercises)
    return kept


def keep(notebook: Path, fresh: str) -> Path | None:
    """Keep a copy of a notebook beside it, unless all its code is in `fresh` too.

    Returns
    -------
    Path or None
        The copy, whose name is new: no earlier copy is overwritten.
    """
    if not notebook.exists():
        return None
    if _code(notebook.read_text(encoding="utf-8", errors="replace")) == _code(fresh):
        return None
    number = 1
    while (copy := notebook.with_name(f"{notebook.stem}.kept-{number}.ipynb")).exists():
        number += 1
    shutil.copyfile(notebook, copy)
    return copy


def _code(text: str) -> list[str] | str:
    """Return a notebook's cells without outputs, or the text itself where it is no notebook."""
    try:
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError):
        return text
