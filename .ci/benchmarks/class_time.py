"""How long a class takes to be graded, by the course and by others: see `--help`.

python .ci/benchmarks/class_time.py

Every engine grades the same class of right and wrong answers, in alternation, and its marks are
compared with the answers: one that fails fast is not fast. What was measured is written after every
run, so nothing is lost when this is stopped; at the end it is put into docs/performance.md.
"""

import argparse
import json
import signal
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from class_page import write_page
from engines import (
    FRESH_KERNELS,
    CourseEngine,
    Engine,
    LimitEngine,
    NbvalEngine,
    ScriptEngine,
    Work,
)
from machine import described_machine
from made_class import MadeClass, make_whole_class
from measured_run import CommandFailedError, adopt_orphans, measure, temporary_folder
from nbgrader_engine import NbgraderEngine
from pytree_course.course import Course, LessonFiles, write_file
from stages import stages

LESSONS = ("1", "2", "5")
WORKERS = 2
SUBMISSIONS = 20
SIZES = (10, 50, 100, 200, 400)  # of lesson 1
NUMBERS_OF_WORKERS = (1, 2, 4)
SEED = 40

console = Console(stderr=True)


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    lessons: list[LessonFiles]
    engines: list[Engine]
    submissions: int
    rounds: int
    sizes: tuple[int, ...]
    workers: tuple[int, ...]


def all_engines(folder: Path, nbgrader: Path | None) -> list[Engine]:
    """Return what is compared; the environment for nbgrader is made in `folder`, if need be."""
    return [
        CourseEngine("course", "`course.py grade`, in the sandbox, on fresh cases"),
        CourseEngine(
            "fresh kernels",
            "the same, where a warm server of kernels cannot be had",
            FRESH_KERNELS,
            is_slow=True,
        ),
        NbgraderEngine(nbgrader or folder / "nbgrader"),
        NbvalEngine(),
        ScriptEngine(),
        LimitEngine(),
        LimitEngine(folder / "compiled"),
    ]


def main() -> None:
    chosen = arguments()
    course = Course.around()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    adopt_orphans()
    results = course.root / "benchmarks" / "results" / "class_time.json"
    with temporary_folder() as folder:
        engines = all_engines(folder, chosen.nbgrader)
        if chosen.engines:
            engines = [each for each in engines if each.name in chosen.engines]
        lessons = [course.lesson_named(name) for name in chosen.lessons]
        plan = Plan(lessons, engines, SUBMISSIONS, chosen.rounds, SIZES, NUMBERS_OF_WORKERS)
        if chosen.quick:
            plan = Plan(lessons[:1], engines, 2, 1, (3,), ())
        bench = Bench(plan, folder, None if chosen.quick else results, described_machine(course))
        try:
            bench.run()
        except KeyboardInterrupt:
            console.print("Stopped. What was measured until now is kept.")
            sys.exit(130)
        finally:
            shown = json.dumps(bench.content["runs"], indent=1)
            sys.stdout.write(f"{shown}\n" if chosen.quick else f"{results} was written.\n")
    if not chosen.quick:
        write_page(course.root, bench.content)
    if bench.trouble:
        sys.exit("\n".join(bench.trouble))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [each.name for each in all_engines(Path(), None)]
    parser.add_argument("--engines", nargs="+", choices=names, help="all, unless named")
    parser.add_argument("--lessons", nargs="+", default=LESSONS)
    parser.add_argument("--rounds", type=int, default=3, help="of what is not slow")
    parser.add_argument("--nbgrader", type=Path, help="keep nbgrader's environment there")
    parser.add_argument("--quick", action="store_true", help="a small try; nothing is written")
    return parser.parse_args()


class Bench:
    """Runs a plan, and keeps what was measured in a file, after every run."""

    def __init__(
        self, plan: Plan, folder: Path, results: Path | None, machine: dict[str, Any]
    ) -> None:
        about = {each.name: each.about for each in plan.engines}
        self.content: dict[str, Any] = {"machine": machine, "engines": about, "runs": []}
        self.trouble: list[str] = []
        self._plan = plan
        self._folder = folder
        self._results = results
        self._made: dict[tuple[str, int], MadeClass] = {}

    def run(self) -> None:
        """Measure all."""
        plan = self._plan
        ours = [each for each in plan.engines if each.name == "course"]
        for files in plan.lessons:
            for engine in ours:  # so that all later ones find the same in the compile cache
                self._measure("warm-up", engine, files, plan.submissions, WORKERS, 0)
        slow = [each for each in plan.engines if each.is_slow]
        for at in range(plan.rounds):
            # The fast ones have a turn in each round, and each slow one between two of those.
            in_turn = [each for each in plan.engines if not each.is_slow] + slow[at :: plan.rounds]
            for files in plan.lessons:
                for engine in in_turn:
                    self._measure("engines", engine, files, plan.submissions, WORKERS, at)
            for engine in ours:
                for workers in plan.workers:
                    self._measure("workers", engine, plan.lessons[0], plan.submissions, workers, at)
        for engine in ours:
            for size in plan.sizes:
                self._measure("sizes", engine, plan.lessons[0], size, WORKERS, 0)

    def _measure(
        self, part: str, engine: Engine, files: LessonFiles, size: int, workers: int, at: int
    ) -> None:
        what = f"{part}: {engine.name}, {files.stem}, {size} submissions, {workers} at once"
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            Path(name).chmod(0o755)
            work = Work(files, self._class(files, size), workers, Path(name))
            engine.prepare(work)
            started = datetime.now().astimezone()
            try:
                at_once = workers if engine.at_once else 1
                is_about_sizes = part == "sizes"
                measured = measure(
                    engine.commands(work), at_once=at_once, with_memory=is_about_sizes
                )
            except CommandFailedError as error:
                self._complain(f"{what}: {error}")
                return
            run = {
                "part": part,
                "engine": engine.name,
                "lesson": files.stem,
                "submissions": size,
                "workers": workers,
                "round": at,
                **asdict(measured),
                **self._compared(what, engine, work),
            }
            if isinstance(engine, CourseEngine):
                run["stages"] = stages(work, started, measured.seconds)
            if is_about_sizes:
                run["again"] = measure(engine.commands(work)).seconds
        if measured.left_behind:
            self._complain(f"{what}: left behind {', '.join(measured.left_behind)}")
        for complaint in measured.complaints:
            self._complain(f"{what}: {complaint}")
        console.print(f"{what}: {measured.seconds:.1f} s", highlight=False)
        self.content["runs"].append(run)
        if self._results:
            write_file(self._results, json.dumps(self.content, indent=1) + "\n")

    def _compared(self, what: str, engine: Engine, work: Work) -> dict[str, int]:
        """Compare an engine's marks with those that the answers deserve."""
        given = engine.marks(work)
        differing = [place for place, mark in work.marks.items() if given.get(place) != mark]
        if differing:
            named = ", ".join(" ".join(place) for place in differing[:5])
            self._complain(f"{what}: {len(differing)} marks are not as they should be: {named}")
        return {"marks": len(work.marks), "differing": len(differing)}

    def _class(self, files: LessonFiles, size: int) -> MadeClass:
        key = files.stem, size
        if key not in self._made:
            folder = self._folder / "classes" / f"{files.stem}-{size}"
            self._made[key] = make_whole_class(folder, size, [files], SEED)
        return self._made[key]

    def _complain(self, text: str) -> None:
        console.print(text, style="red", markup=False, highlight=False)
        self.trouble.append(text)


if __name__ == "__main__":
    main()
