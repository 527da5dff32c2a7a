"""The commands for authors, which learners do not get: build, cases, site, release."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pytree_course.cli.app import app, console, lesson_with_exercises
from pytree_course.course import Course, CourseError, write_file


@app.command()
def build(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON]...",
            help="All lessons and pages, if you name none; 5/adam is one deeper section.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what has not changed: after a change of the engine.")
    ] = False,
) -> None:
    """For authors: build the notebooks whose sources have changed."""
    from pytree_course.authoring.building import build as build_lesson
    from pytree_course.authoring.module_table import PAGE, with_module_table
    from pytree_course.authoring.teaching_plans import PAGE_FILE, plans
    from pytree_course.authoring.traceability import TABLE_FILE, table

    course = Course.around()
    all_files = course.with_sources()
    if not all_files:
        raise CourseError("This copy of the course has no sources to build it from.")
    pages = [files for files in all_files if not files.has_exercises]
    is_new = False
    for name in lessons or [files.stem for files in all_files if files.has_exercises]:
        lesson, _, section = name.partition("/")
        files = course.lesson_named(lesson)
        if section and not (files.deeper_sources / f"{section}.md").exists():
            sections = ", ".join(file.stem for file in files.deeper_files())
            raise CourseError(f"{files.stem} has no deeper section {section!r}: {sections}.")
        console.print(files.stem, style="bold")
        again = everything or not files.has_exercises  # a page that is named is shown anew
        is_new |= build_lesson(files, _tell, section or None, again=again)
    for files in pages:
        shows_lessons = "course_map" in (files.sources / "lesson.md").read_text(encoding="utf-8")
        build_lesson(files, _tell, again=everything or (is_new and shows_lessons))
    # Last of all, for these depend on every lesson: which cells show a topic, and the plans.
    made = {TABLE_FILE: table(course), PAGE_FILE: plans(course), PAGE: with_module_table(course)}
    for page, text in made.items():
        if text:
            write_file(course.root / page, text)


def _tell(step: str) -> None:
    console.print(Text(f"  {step}"), soft_wrap=True)


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


@app.command()
def release(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A new folder, or the folder of an earlier release."),
    ],
    colab: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/REPO[@BRANCH]",
            help="Also make notebooks for Colab. DIR has to be pushed to this GitHub repository.",
        ),
    ] = None,
) -> None:
    """For teachers: write the learners' bundle, a copy of the course without solutions."""
    from pytree_course.authoring.release import release as release_to

    with console.status("Comparing everything with its sources: a minute or two ..."):
        release_to(Course.around(), folder, colab)
    console.print(f"{folder} holds what learners get.")
