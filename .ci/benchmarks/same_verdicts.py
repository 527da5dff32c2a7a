"""Whether verdicts depend on how kernels are started and on compiled programs: they must not.

python .ci/benchmarks/same_verdicts.py

Twenty submissions of each lesson are graded on the same cases in each way, and whatever the
gradebook keeps of a verdict is compared, but the time. It ends with an error if anything differs.
"""

import argparse
import json
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from class_page import results
from class_page import write_page_of_verdicts as write_page
from engines import FRESH_KERNELS, CourseEngine, Work, gradebook_file
from machine import described_machine
from made_class import make_whole_class
from measured_run import Command, adopt_orphans, measure, temporary_folder
from pytree_course.class_grading.attempt import VerdictRow
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.course import Course, write_file

SUBMISSIONS = 20
SEED = 41  # of the cases
WORKERS = 2

_ADDRESS = re.compile(r"0x[0-9a-f]+|ipykernel_\d+")  # of an object, or of a kernel's process

# Of what grading draws, only the cases' seed is drawn by this function.
_ON_ONE_SEED = f"""
import secrets
secrets.randbits = lambda bits: {SEED}
from pytree_course.__main__ import main
main()
"""

Row = dict[str, Any]
console = Console(stderr=True)


class OneSeedEngine(CourseEngine):
    """The command `grade`, always on the same cases."""

    def commands(self, work: Work) -> list[Command]:
        (command,) = super().commands(work)
        arguments = command.line[command.line.index("grade") :]
        line = [sys.executable, "-c", _ON_ONE_SEED, *arguments]
        return [replace(command, line=line)]


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
        return OneSeedEngine("course", self.about, self.variables, options=self.options)


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
    with nullcontext() if way.with_programs else no_compiled_programs():
        measure(way.engine.commands(work))
    with Gradebook(gradebook_file(work)) as gradebook:
        attempts = gradebook.attempts()
    if {attempt.seed for attempt in attempts} != {SEED}:
        raise RuntimeError("the cases are not the same: verdicts cannot be compared")
    return {
        (attempt.student, row.exercise): without_time(row)
        for attempt in attempts
        for row in attempt.rows
    }


def without_time(row: VerdictRow) -> Row:
    """Return what has to be the same: all but the time, and addresses."""
    entries = {name: value for name, value in msgspec.to_builtins(row).items() if name != "seconds"}
    read: Row = json.loads(_ADDRESS.sub("", json.dumps(entries)))
    return read


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
