"""What hostile submissions cost the others of their class: see `--help`.

python .ci/benchmarks/hostile_neighbours.py

A class of lesson 5 is graded twice, alone and with hostile students among it, each of whom hands in
an attack of the corpus (tests/hostile) as the answer to one exercise: the newest of the family
"exhaustion", and those of "sandbox" on what an account has only so many of. It ends with an error
if an honest mark is not as the answer deserves, or if a hostile answer has points.
"""

import argparse
import re
import shutil
import sys
from itertools import cycle
from pathlib import Path

from engines import CourseEngine, Work
from made_class import MadeClass, make_whole_class, write
from measured_run import adopt_orphans, measure, temporary_folder
from pytree_course.course import Course, LessonFiles

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.hostile.families import exhaustion, sandbox

LESSON, WORKERS = "5", 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--honest", type=int, default=20)
    parser.add_argument("--hostile", type=int, default=28)
    chosen = parser.parse_args()
    files = Course.around().lesson_named(LESSON)
    adopt_orphans()
    with temporary_folder() as folder:
        alone = make_whole_class(folder / "alone", chosen.honest, [files])
        shutil.copytree(folder / "alone", folder / "among")
        among = MadeClass(folder / "among", alone.marks)
        attacks = hand_in_attacks(files, among, chosen.hostile)
        graded(files, alone, folder / "warm-up", "warm-up")
        seconds, trouble = graded(files, alone, folder / "grades-alone", f"{chosen.honest} honest")
        what = f"the same among {len(attacks)} hostile"
        slower, more_trouble = graded(files, among, folder / "grades-among", what, attacks)
    print(
        f"among them: {slower / seconds:.1f} times as long; each of them held one of {WORKERS} "
        f"processes for {WORKERS * (slower - seconds) / len(attacks):.0f} s"
    )
    sys.exit("\n".join(trouble + more_trouble))


def hand_in_attacks(files: LessonFiles, made: MadeClass, count: int) -> dict[str, str]:
    """Add hostile students; return the exercise that each attacks."""
    exercises = cycle(dict.fromkeys(exercise for _, exercise in made.marks[files.stem]))
    cases = [case for case in sandbox.family.cases if "48 processes" in case.name]
    cases += reversed(exhaustion.family.cases)
    sources = [code for case in cases for code in case.answers.items()]
    attacks = {}
    for number, ((name, code), exercise) in enumerate(zip(cycle(sources), exercises, strict=False)):
        if number == count:
            break
        # Its own lesson's function becomes one of this lesson, whatever that is called with.
        answer = re.sub(rf"def {name}\(.*?\)", f"def {exercise}(*inputs, **named)", code)
        # Students are graded by name: these come between the others.
        student = f"student{number:03}-hostile"
        write(files, made.folder / student / files.exercises.name, {exercise: answer})
        attacks[student] = exercise
    return attacks


def graded(
    files: LessonFiles,
    made: MadeClass,
    folder: Path,
    what: str,
    attacks: dict[str, str] | None = None,
) -> tuple[float, list[str]]:
    """Grade a class and print what that took; return the seconds, and what is not as it should."""
    folder.mkdir()
    engine, work = CourseEngine("course", ""), Work(files, made, WORKERS, folder)
    measured = measure(engine.commands(work), with_memory=True)
    given = engine.marks(work)
    assert measured.memory is not None
    print(
        f"{what}: {measured.seconds:.0f} s, {measured.cpu_seconds:.0f} s of processor; at most "
        f"{measured.memory.whole:.0f} MB, {measured.memory.grader:.0f} MB of it the grader's",
        flush=True,
    )
    wrong = [place for place, mark in work.marks.items() if given.get(place) != mark]
    gained = [place for place in (attacks or {}).items() if given.get(place)]
    points = sum(mark for mark in work.marks.values())
    kept = sum(mark and given.get(place) is True for place, mark in work.marks.items())
    print(
        f"  {kept} of {points} honest right answers kept their points; {len(wrong)} of "
        f"{len(work.marks)} honest marks not as deserved; {len(gained)} hostile answers gained any",
        flush=True,
    )
    left = [f"{what}: left behind: {name}" for name in measured.left_behind]
    return measured.seconds, [f"{what}: {place}" for place in (*wrong, *gained)] + left


if __name__ == "__main__":
    main()
