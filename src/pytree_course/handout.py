"""Hand out a fresh exercise notebook without losing what a learner wrote in the old one."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

from pytree_course.course import LessonFiles, write_file


def hand_out(files: LessonFiles, fresh: str | None = None) -> Path | None:
    """Put a fresh exercise notebook in its place.

    Parameters
    ----------
    files
        The lesson's files.
    fresh
        The text of a newly built notebook, to be handed out from now on. When not given, the one
        that was handed out before is handed out again.

    Returns
    -------
    Path or None
        Where the old notebook was kept, when a learner had worked in it.
    """
    # A lesson that is built for the first time was not handed out before.
    before = fresh if fresh is not None and not files.blank.exists() else files.read_blank()
    kept = _keep_if_worked_in(files.exercises, before)
    for file in (files.blank, files.exercises):
        write_file(file, fresh or before)
    return kept


def _keep_if_worked_in(notebook: Path, before: str) -> Path | None:
    """Copy a notebook to a new name beside it, unless it is as it was handed out."""
    if not notebook.exists():
        return None
    if _sources(notebook.read_text(encoding="utf-8", errors="replace")) == _sources(before):
        return None
    number = 1
    while (copy := notebook.with_name(f"{notebook.stem}.kept-{number}.ipynb")).exists():
        number += 1
    try:
        shutil.copyfile(notebook, copy)
    except OSError:
        with suppress(OSError):
            copy.unlink(missing_ok=True)  # a part of it, on a full disk
        raise
    return copy


def _sources(text: str) -> list[str] | str:
    """Return what is written in a notebook's cells, or the text itself where it is no notebook."""
    try:
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError):
        return text
