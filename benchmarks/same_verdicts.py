"""Whether verdicts depend on how kernels are started and on compiled programs: they must not.

python benchmarks/same_verdicts.py

Twenty submissions of each lesson are graded on the same cases in each way, and whatever the
gradebook keeps of a verdict is compared, but the time. It ends with an error if anything differs.
"""

import argparse
import json
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from class_page import results
from class_page import write_page_of_verdicts as write_page
from engines import FRESH_KERNELS, CourseEngine, Work, gradebook_file
from machine import described_machine
from made_class import make_whole_class
from measured_run import adopt_orphans, measure, temporary_folder
from rich.console import Console

from pytree_course.classroom.gradebook import Gradebook
from pytree_course.course import Course, write_file

SUBMISSIONS = 20
SEED = 41  # of the cases
WORKERS = 2

_ADDRESS = re.compile(r"0x[0-9a-f]+")  # of an object that is written as an input

Row = dict[str, Any]
console = Console(stderr=True)


@dataclass
class Way:
    """A way to grade, and how its verdicts compare with those of the first way."""

    about: str
    variables: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    with_programs: bool = True
    compared: int = 0
    differing: int = 0

    @property
    def engine(self) -> CourseEngine:
        """The engine that grades so."""
        return CourseEngine("course", self.about, self.variables, options=self.options)


def all_ways() -> list[Way]:
    return [
        Way("warm kernels, compiled programs"),
        Way("warm kernels, no compiled programs", with_programs=False),
        Way("fresh sandboxed kernels, compiled programs", FRESH_KERNELS),
        Way("fresh sandboxed kernels, no compiled programs", FRESH_KERNELS, with_programs=False),
        Way("kernels outside of the sandbox", options=("--unsandboxed",)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", nargs="+", help="all, unless named")
    parser.add_argument("--quick", action="store_true", help="a small try; nothing is written")
    chosen = parser.parse_args()
    course = Course.around()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    adopt_orphans()
    ways = all_ways()
    lessons = [course.lesson_named(name) for name in chosen.lessons or ()] or course.lessons()
    count = 2 if chosen.quick else SUBMISSIONS
    content = {"machine": described_machine(course), "submissions": count * len(lessons)}
    with temporary_folder() as folder:
        made = make_whole_class(folder / "class", count, lessons)
        for files in lessons:
            expected: dict[tuple[str, str], Row] = {}
            for way in ways:
                with tempfile.TemporaryDirectory(dir=folder) as name:
                    Path(name).chmod(0o755)
                    rows = verdicts(way, Work(files, made, WORKERS, Path(name)))
                expected = expected or rows
                compare(f"{files.stem}, {way.about}", way, expected, rows)
    if not chosen.quick:
        content["ways"] = [asdict(way) for way in ways]
        write_file(results(course.root, "same_verdicts"), json.dumps(content, indent=1) + "\n")
        write_page(course.root, content)
    sys.exit(1 if any(way.differing for way in ways) else 0)


def verdicts(way: Way, work: Work) -> dict[tuple[str, str], Row]:
    """Grade a lesson in one way, and return the gradebook's rows by student and exercise."""
    with Gradebook(gradebook_file(work)) as gradebook:
        gradebook.seed_of_run(work.files.stem, 0, SEED)
    with nullcontext() if way.with_programs else no_compiled_programs():
        measure(way.engine.commands(work))
    with closing(sqlite3.connect(gradebook_file(work))) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(
            "SELECT student, seed, verdict.* FROM verdict JOIN attempt ON attempt.id = attempt"
        ).fetchall()
    if {row["seed"] for row in rows} != {SEED}:
        raise RuntimeError("the cases are not the same: verdicts cannot be compared")
    return {(row["student"], row["exercise"]): without_time(row) for row in rows}


def without_time(row: sqlite3.Row) -> Row:
    """Return what has to be the same: all but the time, the attempt's number, and addresses."""
    return {
        name: _ADDRESS.sub("0x", value) if isinstance(value, str) else value
        for name, value in dict(row).items()
        if name not in ("attempt", "seconds")
    }


def compare(
    what: str, way: Way, expected: dict[tuple[str, str], Row], rows: dict[tuple[str, str], Row]
) -> None:
    """Count the rows that differ from what is expected, and show how."""
    places = {*expected, *rows}
    differing = [place for place in sorted(places) if expected.get(place) != rows.get(place)]
    way.compared += len(places)
    way.differing += len(differing)
    sys.stdout.write(f"{what}: {len(places)} compared, {len(differing)} differ\n")
    for place in differing:
        first, second = expected.get(place, {}), rows.get(place, {})
        for name in sorted({*first, *second}):
            if first.get(name) != second.get(name):
                console.print(f"  {place} {name}", markup=False)
                console.print(f"    {first.get(name)}\n    {second.get(name)}", markup=False)


@contextmanager
def no_compiled_programs() -> Iterator[None]:
    """Move away, for as long as this lasts, the compiled programs that kernels are shown."""
    shown = [*(Path(sys.prefix) / "cache" / "compiled").glob("*/shown")]
    away = {folder: folder.with_name("moved-by-same-verdicts") for folder in shown}
    for folder, place in away.items():
        folder.rename(place)
    try:
        yield
    finally:
        for folder, place in away.items():
            if folder.exists():  # made anew
                shutil.rmtree(folder)
            place.rename(folder)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. Nothing was written.")
