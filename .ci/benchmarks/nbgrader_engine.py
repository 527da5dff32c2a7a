"""nbgrader's `autograde`, in an environment of its own, with the course's kernel."""

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from engines import Engine, Work
from made_class import Marks
from measured_run import Command, measure
from pytree_course.course import COURSE_VARIABLE, check_id

VERSION = "0.9.6"
CONFIG = """\
c = get_config()
c.ClearSolutions.enabled = False
c.OverwriteCells.add_missing_cells = True
"""  # as docs/teaching.md says
MARKS = """
SELECT student_id, base_cell.name, auto_score FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
"""


class NbgraderEngine(Engine):
    """nbgrader, which is installed into `environment` when it is not there."""

    name = "nbgrader"
    about = f"nbgrader {VERSION} `autograde`: no sandbox, the public cases, one after another"
    is_slow = True

    def __init__(self, environment: Path) -> None:
        self._environment = environment
        self._scripts = environment / "bin"

    def _install(self, root: Path) -> None:
        uv = [sys.executable, "-m", "uv", "--quiet"]
        install = [
            *uv,
            "pip",
            "install",
            "--compile-bytecode",
            "--python",
            self._scripts / "python",
        ]
        kernel = [sys.executable, "-m", "ipykernel", "install", "--prefix", self._environment]
        lines: list[list[object]] = [
            [*uv, "venv", "--python", sys.executable, self._environment],
            [*install, f"nbgrader=={VERSION}"],
            [*kernel, "--name", "python3", "--env", COURSE_VARIABLE, root],
        ]
        measure([Command(line, root) for line in lines])

    def prepare(self, work: Work) -> None:
        if not (self._scripts / "nbgrader").exists():
            self._install(work.files.root)
        assignment = work.files.stem
        (work.folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
        source = work.folder / "source" / assignment / work.files.exercises.name
        source.parent.mkdir(parents=True)
        shutil.copy(work.files.blank, source)
        for student, notebook in work.notebooks.items():
            target = work.folder / "submitted" / student / assignment / notebook.name
            target.parent.mkdir(parents=True)
            shutil.copy(notebook, target)
        measure([self._command(work, "generate_assignment")])

    def commands(self, work: Work) -> list[Command]:
        return [self._command(work, "autograde")]

    def _command(self, work: Work, name: str) -> Command:
        line = [self._scripts / "nbgrader", name, work.files.stem, "--create"]
        # nbgrader looks for alembic on PATH, as if its environment were active.
        path = os.pathsep.join([str(self._scripts), os.environ["PATH"]])
        return Command(line, work.folder, {"PATH": path})

    def marks(self, work: Work) -> Marks:
        with closing(sqlite3.connect(work.folder / "gradebook.db")) as database:
            rows = database.execute(MARKS).fetchall()
        ending = check_id("")
        return {(student, cell.removesuffix(ending)): score > 0 for student, cell, score in rows}
