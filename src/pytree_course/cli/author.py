"""The author's commands: test, build, cases, site."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pytree_course.cli.app import app, console, lesson_with_exercises, run_in_course
from pytree_course.course import Course, CourseError, write_file


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(
    context: typer.Context,
    fast: Annotated[
        bool, typer.Option("--fast", help="Only what needs no browser, class or whole lesson.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what passed before and reads nothing new.")
    ] = False,
) -> None:
    """Run the course's tests that are new, changed or failed. pytest gets all other arguments."""
    course = Course.around()
    # A learner's copy has neither tests nor solutions: there, the lessons are run.
    has_tests = (course.root / "tests").is_dir()
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
        *("--nbval-lax", "--nbval-current-env"),
        # One more than there are cores, for some tests wait; but no more than a laptop has memory
        # for, since some start a browser or kernels.
        *("--dist", "loadscope", "--numprocesses", str(min(1 + (os.cpu_count() or 1), 4))),
        *(["-p", "tests.unchanged"] if has_tests else []),
        *(["--everyday"] if has_tests and not everything else []),
        *(["-m", "not slow", "--override-ini", "testpaths=tests"] if fast else []),
    ]
    raise typer.Exit(run_in_course([*command, *context.args], course))


@app.command()
def build(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LESSON]...", help="All lessons and pages, if you name none."),
    ] = None,
) -> None:
    """For authors: build notebooks, exercises and solutions from the sources."""
    from pytree_course.authoring.building import build as build_lesson
    from pytree_course.authoring.module_table import PAGE, with_module_table
    from pytree_course.authoring.teaching_plans import PAGE_FILE, plans
    from pytree_course.authoring.traceability import TABLE_FILE, table

    course = Course.around()
    everything = course.with_sources()
    if not everything:
        raise CourseError("This copy of the course has no sources to build it from.")
    chosen = [course.lesson_named(name) for name in lessons] if lessons else everything
    # Pages come last, and with every lesson: the start page shows what lessons there are.
    pages = [files for files in everything if not files.has_exercises]
    for files in [*(files for files in chosen if files.has_exercises), *pages]:
        console.print(files.stem, style="bold")
        build_lesson(files, tell=lambda step: console.print(Text(f"  {step}"), soft_wrap=True))
    # Last of all, for these depend on every lesson: which cells show a topic, and the plans.
    made = {TABLE_FILE: table(course), PAGE_FILE: plans(course), PAGE: with_module_table(course)}
    for page, text in made.items():
        if text:
            write_file(course.root / page, text)


@app.command()
def cases(
    lesson: Annotated[
        str | None, typer.Argument(metavar="[LESSON]", help="All lessons, if you name none.")
    ] = None,
    exercise: Annotated[
        str | None, typer.Argument(metavar="[EXERCISE]", help="All exercises, if you name none.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes run answers.")] = 1,
    write: Annotated[
        bool, typer.Option("--write", help="Try what changed, and write docs/cases.md.")
    ] = False,
) -> None:
    """For authors: see whether the checks tell every wrong answer from the right answer.

    The command tries mutants of the right answers and a memoriser of the public cases. The exit
    status is 0 if the checks refuse them all.
    """
    from pytree_course.authoring.case_table import stale, write_case_table
    from pytree_course.authoring.mutation_testing import HEADINGS, try_wrong_answers

    lessons = [lesson_with_exercises(lesson)] if lesson else Course.around().lessons()
    found = []
    for files in lessons:
        console.print(files.stem, style="bold")
        chosen = [exercise] if exercise else stale(files) if write else []
        in_lesson = []
        for findings in try_wrong_answers(files, chosen, jobs) if chosen or not write else ():
            symbol, style = ("✗", "yellow") if findings.to_do else ("✓", "green")
            counts = [*findings.counts, findings.memoriser_refused, f"{findings.seconds:.2f}"]
            names = [*HEADINGS[1:], "Seconds"]
            told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
            console.print(Text(f"{symbol} {findings.exercise.name}: {told}", style=style))
            for line in findings.to_do:
                console.print(Text(f"  {line}"), soft_wrap=True)
            in_lesson.append(findings)
        if write:
            write_case_table(files, in_lesson)
        found += in_lesson
    raise typer.Exit(1 if any(findings.to_do for findings in found) else 0)


@app.command()
def site(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """For authors: write the course as a website, of what is built."""
    from pytree_course.authoring.website import write_site

    write_site(Course.around(), folder)
    console.print(f"The website begins with {folder / 'index.html'}.", soft_wrap=True)
