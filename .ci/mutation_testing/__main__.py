"""Test whether the checks refuse wrong answers that nobody wrote.

In this folder's parent: python -m mutation_testing [--write] [--jobs N] [LESSON] [EXERCISE]

It tries mutants of the right answers, and a memoriser of the public cases. The exit status is 0 if
the checks refuse all of them.
"""

import argparse
import sys

from rich.console import Console
from rich.text import Text

from mutation_testing.case_table import stale, write_case_table
from mutation_testing.trials import HEADINGS, Findings, try_wrong_answers
from pytree_course.course import Course, CourseError, LessonFiles


def main(arguments: list[str] | None = None) -> int:
    """Test the exercises named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lesson", nargs="?", help="all lessons, if you name none")
    parser.add_argument("exercise", nargs="?", help="all exercises, if you name none")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes run answers")
    parser.add_argument(
        "--write", action="store_true", help="try what changed, write docs/cases.md"
    )
    chosen = parser.parse_args(arguments)
    course = Course.around()
    try:
        lessons = [course.lesson_named(chosen.lesson)] if chosen.lesson else course.lessons()
        found = [finding for files in lessons for finding in try_lesson(files, chosen)]
    except CourseError as error:
        sys.exit(str(error))
    return 1 if any(finding.to_do for finding in found) else 0


def try_lesson(files: LessonFiles, chosen: argparse.Namespace) -> list[Findings]:
    """Test a lesson's exercises; print the results, and write them if asked to."""
    Console().print(files.stem, style="bold")
    exercises = [chosen.exercise] if chosen.exercise else stale(files) if chosen.write else []
    found = []
    if exercises or not chosen.write:
        for finding in try_wrong_answers(files, exercises, chosen.jobs):
            show(finding)
            found.append(finding)
    if chosen.write:
        write_case_table(files, found)
    return found


def show(finding: Findings) -> None:
    """Print the results of one exercise, and what is left to do."""
    symbol, style = ("✗", "yellow") if finding.to_do else ("✓", "green")
    counts = [*finding.counts, finding.memoriser_refused, f"{finding.seconds:.2f}"]
    names = [*HEADINGS[1:], "Seconds"]
    told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
    Console().print(Text(f"{symbol} {finding.exercise.name}: {told}", style=style))
    for line in finding.to_do:
        Console().print(Text(f"  {line}"), soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
