"""The ways to grade a class that are compared, each with the marks that it gave.

An engine gets a class made by `made_class`, and a folder of its own. What it needs before it can
grade is not timed; its commands are.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
from nbconvert import PythonExporter

from made_class import MadeClass, Marks
from measured_run import Command, measure
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.cli.teacher import GRADEBOOK
from pytree_course.course import COURSE_VARIABLE, PROGRESS_VARIABLE, LessonFiles, check_id
from pytree_course.learner.progress import Progress
from pytree_course.nbgrader import VARIABLE

FRESH_KERNELS = {"PYTREE_COURSE_KERNELS": "fresh"}
"""The environment variables with which `grade` starts sandboxed kernels one by one."""
FORK_EACH = Path(__file__).with_name("fork_each.py")


@dataclass(frozen=True)
class Work:
    """What an engine is to grade: a class's notebooks of one lesson, so many at once."""

    files: LessonFiles
    made: MadeClass
    workers: int
    folder: Path

    @property
    def marks(self) -> Marks:
        """The marks that the answers deserve."""
        return self.made.marks[self.files.stem]

    @property
    def notebooks(self) -> dict[str, Path]:
        """The notebooks that were handed in, by student."""
        students = sorted({student for student, _ in self.marks})
        return {each: self.made.folder / each / self.files.exercises.name for each in students}


class Engine(ABC):
    """A way to grade a class."""

    name: str
    about: str
    is_slow = False  # one round has to do
    at_once = False  # whether it has one command for each notebook

    def prepare(self, work: Work) -> None:  # noqa: B027, most need nothing
        """Make what has to be there before."""

    @abstractmethod
    def commands(self, work: Work) -> list[Command]:
        """Return what is timed."""

    @abstractmethod
    def marks(self, work: Work) -> Marks:
        """Return the marks that the engine gave; what it did not mark is missing."""


class CourseEngine(Engine):
    """The whole command `course.py grade`, in the sandbox, on fresh cases."""

    def __init__(
        self,
        name: str,
        about: str,
        variables: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        is_slow: bool = False,
    ) -> None:
        self.name, self.about, self.is_slow = name, about, is_slow
        self._variables, self._options = variables or {}, options

    def commands(self, work: Work) -> list[Command]:
        root = work.files.root
        is_whole = (root / "course.py").exists()
        course = ["course.py"] if is_whole else ["-m", "pytree_course"]
        line = [
            sys.executable,
            *course,
            "grade",
            work.made.folder,
            "--into",
            work.folder / "grades",
        ]
        line += ["--lesson", work.files.stem, "--jobs", str(work.workers), *self._options]
        return [Command(line, root, self._variables)]

    def marks(self, work: Work) -> Marks:
        with Gradebook(gradebook_file(work)) as gradebook:
            attempts = gradebook.attempts()
        return {
            (attempt.student, row.exercise): row.kind == "correct"
            for attempt in attempts
            for row in attempt.rows
        }


def gradebook_file(work: Work) -> Path:
    return work.folder / "grades" / GRADEBOOK


class NbvalEngine(Engine):
    """`pytest --nbval-lax`, a process for each notebook; wrong answers fail, as under nbgrader."""

    name = "nbval"
    about = "`pytest --nbval-lax`, a process for each notebook, two at once"
    is_slow = at_once = True

    def commands(self, work: Work) -> list[Command]:
        options = ["--nbval-lax", "--nbval-current-env", "--quiet", "-c", "/dev/null"]
        options += ["-p", "no:cacheprovider", "--rootdir", str(work.made.folder)]
        variables = {COURSE_VARIABLE: str(work.files.root), VARIABLE: "autograde"}
        return [
            Command(
                [sys.executable, "-m", "pytest", *options, f"--junitxml={student}.xml", notebook],
                work.folder,
                variables,
                fails=(1,),  # there are wrong answers
            )
            for student, notebook in work.notebooks.items()
        ]

    def marks(self, work: Work) -> Marks:
        cells = nbformat.reads(work.files.read_blank(), as_version=4).cells
        code = [cell.id for cell in cells if cell.cell_type == "code"]
        marks: Marks = {}
        for student in work.notebooks:
            tests = ElementTree.parse(work.folder / f"{student}.xml").iter("testcase")
            passed = {test.get("name"): test.find("failure") is None for test in tests}
            of_cell = {cell: passed.get(f"Cell {at}") for at, cell in enumerate(code)}
            for exercise in exercises(work):
                mark = of_cell[check_id(exercise)]
                if mark is not None:
                    marks[student, exercise] = mark
        return marks


class ScriptEngine(Engine):
    """The notebooks as Python scripts, made by nbconvert; marks are what the progress file has."""

    name = "scripts"
    about = "the notebooks as bare Python scripts, two at once"
    is_slow = at_once = True

    def prepare(self, work: Work) -> None:
        for student, notebook in work.notebooks.items():
            write_script(notebook, self.script(work, student))

    def script(self, work: Work, student: str) -> Path:
        return work.folder / student / "script.py"

    def commands(self, work: Work) -> list[Command]:
        return [
            Command(
                [sys.executable, self.script(work, student)],
                work.folder,
                {
                    COURSE_VARIABLE: str(work.files.root),
                    PROGRESS_VARIABLE: str(work.folder / student),
                },
            )
            for student in work.notebooks
        ]

    def marks(self, work: Work) -> Marks:
        marks: Marks = {}
        for student in work.notebooks:
            done = Progress.load(work.folder / student / "progress.jsonl").exercises
            for (_, exercise), progress in done.items():
                marks[student, exercise] = progress.correct
        return marks


class LimitEngine(ScriptEngine):
    """Those scripts, each in a fork of a process that has imported all that they import."""

    at_once = False

    def __init__(self, cache: Path | None = None) -> None:
        self.name = "limit with cache" if cache else "limit"
        with_cache = ", with a read-only compile cache that the right answers filled"
        self.about = "the same, each in a fork of a process that has imported everything"
        self.about += with_cache if cache else ""
        self._cache = cache
        self._filled: set[str] = set()  # the lessons

    def prepare(self, work: Work) -> None:
        super().prepare(work)
        if self._cache and work.files.stem not in self._filled:
            self._filled.add(work.files.stem)
            script = work.folder / "solutions" / "script.py"
            write_script(work.files.solutions, script)
            self._fill(work, script)

    def _fill(self, work: Work, script: Path) -> None:
        assert self._cache
        variables = {COURSE_VARIABLE: str(work.files.root), PROGRESS_VARIABLE: str(script.parent)}
        variables |= cache_variables(self._cache, least_seconds="0")
        measure([Command([sys.executable, script], work.folder, variables)])

    def commands(self, work: Work) -> list[Command]:
        scripts = [self.script(work, student) for student in work.notebooks]
        line = [sys.executable, FORK_EACH, str(work.workers), work.files.check_script, *scripts]
        # OpenBLAS would start threads, and a process that has some cannot be forked safely.
        variables = {COURSE_VARIABLE: str(work.files.root), "OPENBLAS_NUM_THREADS": "1"}
        if self._cache:
            variables |= cache_variables(self._cache, least_seconds="1e9")  # nothing is written
        return [Command(line, work.folder, variables)]


def cache_variables(folder: Path, least_seconds: str) -> dict[str, str]:
    """Return the variables by which JAX keeps in a folder what took it so long to compile."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": least_seconds,
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def exercises(work: Work) -> list[str]:
    return list(dict.fromkeys(exercise for _, exercise in work.marks))


def write_script(notebook: Path, script: Path) -> None:
    """Write a notebook as a Python script."""
    exporter: Any = PythonExporter
    text, _ = exporter().from_filename(str(notebook))
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
