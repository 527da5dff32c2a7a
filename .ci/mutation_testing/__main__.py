"""Show which wrong answers, that nobody wrote, pass the checks.

python .ci/mutation_testing [--jobs N] [LESSON] [EXERCISE]

It tries mutants of the right answers, and a memoriser of the public cases. A mutant that survives
may be as right as the answer, or show a case that is missing.
"""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation_testing.trials import FRESH_SEEDS, Findings, try_wrong_answers
from pytree_course.course import Course, CourseError


def main(arguments: list[str] | None = None) -> None:
    """Try the exercises named on the command line, and print which wrong answers pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lesson", nargs="?", help="all lessons, if you name none")
    parser.add_argument("exercise", nargs="?", help="all exercises, if you name none")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes run answers")
    chosen = parser.parse_args(arguments)
    course = Course.above()
    try:
        lessons = [course.lesson_named(chosen.lesson)] if chosen.lesson else course.lessons()
        for files in lessons:
            Console().print(files.stem, style="bold")
            exercises = [chosen.exercise] if chosen.exercise else []
            for findings in try_wrong_answers(files, exercises, chosen.jobs):
                show(findings)
    except CourseError as error:
        sys.exit(str(error))


def show(findings: Findings) -> None:
    """Print the results of one exercise, with the mutants that survive."""
    surviving = len(findings.survivors)
    told = (
        f"{findings.exercise.name}: {findings.cases} cases in {findings.seconds:.2f} s, "
        f"{surviving} of {findings.mutants} mutants survive"
    )
    if findings.memoriser is not None:
        told += f", memoriser refused on {findings.memoriser} of {len(FRESH_SEEDS)} seeds"
    Console().print(Text(told), soft_wrap=True)
    for name in findings.survivors:
        Console().print(Text(f"  survives: {name}"), soft_wrap=True)


if __name__ == "__main__":
    main()
