"""Time the grading of a class, by the course and by nbgrader.

python .ci/benchmarks/class_time.py --lessons 1 2 --runs runs.json

Both grade the same class of right and wrong answers, and their marks are compared with what the
answers deserve: one that fails fast is not fast. Each run is appended to the file `--runs`, and the
tables of docs/performance.md are printed from all runs in it. `--sizes` measures larger classes of
lesson 1. Nothing else should run on the machine.
"""

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from pytree_course.built import answer_id, check_id
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.cli.teacher import GRADEBOOK
from pytree_course.course import COURSE_VARIABLE, Course, LessonFiles
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import read_sources

NBGRADER = "0.9.6"
JOBS = 2
RIGHT_SHARE = 0.6  # of the answers
SEED = 40
SAMPLE_SECONDS = 0.5  # between two looks at the memory in use
Marks = dict[tuple[str, str], bool]
"""By student and exercise: whether the answer is right."""


# --- the class


@dataclass(frozen=True)
class Work:
    """A class's notebooks of one lesson, the marks they deserve, and an engine's own folder."""

    files: LessonFiles
    notebooks: Mapping[str, Path]  # by student
    marks: Marks
    folder: Path


def make_class(files: LessonFiles, count: int, folder: Path) -> tuple[dict[str, Path], Marks]:
    """Write notebooks of which no two have the same answer; return them and their marks."""
    rng = np.random.default_rng([SEED, int(files.stem[:2])])
    exercises = read_sources(files).graded
    notebooks, marks = {}, {}
    for student in (f"student{number:03}" for number in range(count)):
        notebook = json.loads(files.read_blank())
        cells = {cell["id"]: cell for cell in notebook["cells"]}
        for name, exercise in exercises.items():
            source, marks[student, name] = drawn_answer(exercise, rng)
            cells[answer_id(name)]["source"] = f"# By {student}.\n{source}"
        notebooks[student] = folder / student / files.exercises.name
        notebooks[student].parent.mkdir(parents=True)
        notebooks[student].write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return notebooks, marks


def drawn_answer(exercise: Exercise, rng: np.random.Generator) -> tuple[str, bool]:
    """Draw one of the author's right or wrong answers, and return whether it is right."""
    wrong = exercise.misconceptions
    if rng.random() < RIGHT_SHARE:
        right = [exercise.solution, *exercise.variants]
        return right[rng.integers(len(right))].source, True
    # A few misconceptions are held by many.
    return wrong[min(int(rng.exponential(1.5)), len(wrong) - 1)].source, False


# --- ways to grade it


@dataclass(frozen=True)
class Command:
    """A command line, where it runs, and the variables that it gets beside our own."""

    line: Sequence[object]
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self) -> float:
        """Run it, and return the seconds that it took."""
        start = perf_counter()
        done = subprocess.run(
            [str(part) for part in self.line],
            cwd=self.folder,
            env=os.environ | dict(self.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        seconds = perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(f"{self.line}\nended with {done.returncode}:\n{done.stdout[-2000:]}")
        return seconds


class CourseEngine:
    """The whole command, from starting Python to the last page."""

    about = "`course.py grade`: sandbox, fresh cases, feedback, pages"

    def prepare(self, work: Work) -> None:
        """Nothing: the command needs no preparation."""

    def command(self, work: Work) -> Command:
        handed_in = next(iter(work.notebooks.values())).parents[1]
        line = [sys.executable, "course.py", "grade", handed_in, "--into", work.folder / "grades"]
        line += ["--lesson", work.files.stem, "--jobs", JOBS]
        return Command(line, work.files.root)

    def marks(self, work: Work) -> Marks:
        with Gradebook(work.folder / "grades" / GRADEBOOK) as gradebook:
            attempts = gradebook.attempts()
        return {
            (attempt.student, row.exercise): row.kind == "correct"
            for attempt in attempts
            for row in attempt.rows
        }


class NbgraderEngine:
    """nbgrader's `autograde`, in an environment of its own, with the course's kernel."""

    about = f"nbgrader {NBGRADER} `autograde`: no sandbox, public cases, one after another"
    config = "c.ClearSolutions.enabled = False\nc.OverwriteCells.add_missing_cells = True\n"
    query = """
        SELECT student_id, base_cell.name, auto_score FROM grade
        JOIN base_cell ON base_cell.id = grade.cell_id
        JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    """

    def __init__(self, environment: Path) -> None:
        self.environment = environment
        self.scripts = environment / "bin"

    def prepare(self, work: Work) -> None:
        if not (self.scripts / "nbgrader").exists():
            self._install(work.files.root)
        stem = work.files.stem
        config = f"c = get_config()\n{self.config}"  # as docs/teaching.md says
        (work.folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
        source = work.folder / "source" / stem / work.files.exercises.name
        source.parent.mkdir(parents=True)
        shutil.copy(work.files.blank, source)
        for student, notebook in work.notebooks.items():
            target = work.folder / "submitted" / student / stem / notebook.name
            target.parent.mkdir(parents=True)
            shutil.copy(notebook, target)
        self._command(work, "generate_assignment").run()

    def _install(self, root: Path) -> None:
        uv = [sys.executable, "-m", "uv", "--quiet"]
        pip = [*uv, "pip", "install", "--compile-bytecode", "--python", self.scripts / "python"]
        kernel = [sys.executable, "-m", "ipykernel", "install", "--prefix", self.environment]
        for line in (
            [*uv, "venv", "--python", sys.executable, self.environment],
            [*pip, f"nbgrader=={NBGRADER}"],
            [*kernel, "--name", "python3", "--env", COURSE_VARIABLE, root],
        ):
            Command(line, root).run()

    def command(self, work: Work) -> Command:
        return self._command(work, "autograde")

    def _command(self, work: Work, name: str) -> Command:
        # nbgrader looks for alembic on PATH, as if its environment were active.
        path = os.pathsep.join([str(self.scripts), os.environ["PATH"]])
        line = [self.scripts / "nbgrader", name, work.files.stem, "--create"]
        return Command(line, work.folder, {"PATH": path})

    def marks(self, work: Work) -> Marks:
        with closing(sqlite3.connect(work.folder / "gradebook.db")) as database:
            rows = database.execute(self.query).fetchall()
        ending = check_id("")
        return {(student, cell.removesuffix(ending)): score > 0 for student, cell, score in rows}


# --- measuring


class MemoryWatch(threading.Thread):
    """Watches how much memory this process's descendants use together; shared pages count once."""

    def __init__(self) -> None:
        super().__init__()
        self.most_megabytes = 0.0
        self._ended = threading.Event()

    def run(self) -> None:
        """Look again and again, until `stop` is called."""
        while not self._ended.wait(SAMPLE_SECONDS):
            now = 0.0
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    now += process.memory_full_info().pss / 1e6
            self.most_megabytes = max(self.most_megabytes, now)

    def stop(self) -> float:
        """Return the most megabytes that were in use at once."""
        self._ended.set()
        self.join()
        return self.most_megabytes


class Bench:
    """Measures engines on classes, in a folder for all that they need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # What an engine prepares before it can grade is not timed.
        self.engines: dict[str, CourseEngine | NbgraderEngine] = {
            "course": CourseEngine(),
            "nbgrader": NbgraderEngine(folder / "nbgrader"),
        }

    def compare(self, files: LessonFiles, size: int, engines: list[str]) -> list[dict[str, Any]]:
        """Time each engine on the same class, which the course has graded once before."""
        if "course" in engines:  # so that the compiled programs of the author's answers are there
            self.engines["course"].command(self._work(files, size)).run()
        return [self._timed(name, self._work(files, size)) for name in engines]

    def grow(self, files: LessonFiles, size: int) -> dict[str, Any]:
        """Time the course's grading of a class, and its grading again; watch its memory."""
        work = self._work(files, size)
        watch = MemoryWatch()
        watch.start()
        try:
            run = self._timed("course", work)
        finally:
            megabytes = watch.stop()
        again = self.engines["course"].command(work).run()
        return run | {"part": "sizes", "again": again, "megabytes": megabytes}

    def _timed(self, name: str, work: Work) -> dict[str, Any]:
        engine = self.engines[name]
        engine.prepare(work)
        seconds = engine.command(work).run()
        given = engine.marks(work)
        if wrong := [place for place, mark in work.marks.items() if given.get(place) != mark]:
            raise SystemExit(f"{name}: {len(wrong)} marks are not what answers deserve: {wrong}")
        students = len(work.notebooks)
        print(f"{name}, {work.files.stem}, {students} submissions: {seconds:.1f} s", flush=True)
        return {
            "part": "engines",
            "engine": name,
            "lesson": work.files.stem,
            "submissions": students,
            "seconds": seconds,
            "marks": len(work.marks),
        }

    def _work(self, files: LessonFiles, size: int) -> Work:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        folder.chmod(0o755)  # the sandbox's user has to pass
        notebooks, marks = make_class(files, size, folder / "handed-in")
        return Work(files, notebooks, marks, folder)


# --- what is printed


def described_machine(root: Path) -> str:
    """Return what has to be said beside every measured time."""
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in processors if line.startswith("model name")]
    git = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=10"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return (
        f"Measured on {date.today()} with commit `{commit}` on {os.cpu_count()} cores of "
        f"{next(iter(names), platform.machine())}, Python {platform.python_version()}, JAX "
        f"{version('jax')}; before it began, {os.getloadavg()[0]:.1f} processes were waiting for "
        "a core."
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown: the first column is text, the others are numbers."""
    line = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, line, *rows))


def short(number: float) -> str:
    """Return a number with two or three digits: more would be noise."""
    return f"{number:.0f}" if number >= 20 else f"{number:.1f}"


def tables(runs: list[dict[str, Any]]) -> str:
    """Return the tables of docs/performance.md."""
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for run in runs:
        if run["part"] == "engines":
            place = run["engine"], run["lesson"], run["submissions"]
            seconds.setdefault(place, []).append(run["seconds"])
    medians = {place: statistics.median(times) for place, times in seconds.items()}
    columns = sorted({(lesson, size) for _, lesson, size in medians})
    abouts = {"course": CourseEngine.about, "nbgrader": NbgraderEngine.about}
    rows = []
    for engine, about in abouts.items():
        cells = []
        for lesson, size in columns:
            own = medians.get((engine, lesson, size))
            theirs = medians.get(("nbgrader", lesson, size))
            times = f" ({theirs / own:.1f} ×)" if own and theirs else ""
            cells.append(f"{short(own)}{times}" if own else "")
        rows.append([about, *cells])
    header = [f"lesson {int(lesson[:2])}, {size} submissions" for lesson, size in columns]
    compared = f"{sum(run['marks'] for run in runs):,} marks were compared; none differed."
    sizes = sorted((run for run in runs if run["part"] == "sizes"), key=lambda run: run["marks"])
    larger = [
        [
            *(f"{run['submissions']}", short(run["seconds"])),
            f"{run['seconds'] / run['submissions']:.2f}",
            *(short(run["again"]), f"{run['megabytes']:.0f}"),
        ]
        for run in sizes
    ]
    of_sizes = ["submissions of lesson 1", "seconds", "a submission", "again, unchanged", "MB"]
    parts = [table(["seconds", *header], rows), compared]
    return "\n\n".join([*parts, table(of_sizes, larger)] if larger else parts)


def main() -> None:
    """Measure what the command line asks for, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ["course", "nbgrader"]
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    parser.add_argument("--lessons", nargs="*", default=["1"], help="such as 1 2 5")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--sizes", nargs="*", type=int, default=[], help="such as 50 100 200")
    parser.add_argument("--runs", type=Path, required=True, help="JSON file to append to")
    chosen = parser.parse_args()
    course = Course.above()
    machine = described_machine(course.root)
    runs = json.loads(chosen.runs.read_text("utf-8")) if chosen.runs.exists() else []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        Path(name).chmod(0o755)
        bench = Bench(Path(name))
        for lesson in chosen.lessons:
            files = course.lesson_named(lesson)
            runs += bench.compare(files, chosen.submissions, chosen.engines)
        for size in chosen.sizes:
            runs.append(bench.grow(course.lesson_named("1"), size))
    chosen.runs.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    print(f"\n{machine}\n\n{tables(runs)}")


if __name__ == "__main__":
    main()
