"""The authors' commands, not installed for learners: build, answer, site, release."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pytree_course.cli.app import Lesson, app, console, lesson_with_exercises
from pytree_course.course import Course, CourseError
from pytree_course.texts import write_file


@app.command()
def build(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LESSON]...", help="All lessons and pages, if you name none."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what has not changed: after a change of the engine.")
    ] = False,
) -> None:
    """For authors: build the notebooks whose sources have changed."""
    from pytree_course.authoring import teaching_plans
    from pytree_course.authoring.building import build as build_lesson

    course = Course.above()
    all_files = course.lessons_and_pages()
    if not all_files:
        raise CourseError("This copy of the course has no sources to build it from.")
    all_lessons = [files.stem for files in all_files if files.has_exercises]
    pages = [files for files in all_files if not files.has_exercises]
    is_any_new = False
    for name in lessons or all_lessons:
        files = course.lesson_named(name)
        console.print(files.stem, style="bold")
        is_page = not files.has_exercises  # a page that is named is always built
        is_any_new |= build_lesson(files, _show_step, again=everything or is_page)
    for files in pages:
        shows_lessons = "course_map" in (files.sources / "lesson.md").read_text(encoding="utf-8")
        build_lesson(files, _show_step, again=everything or (is_any_new and shows_lessons))
    # Last, because the plans depend on every lesson.
    write_file(course.root / teaching_plans.PAGE, teaching_plans.plans(course))


def _show_step(step: str) -> None:
    console.print(Text(f"  {step}"), soft_wrap=True)


@app.command()
def answer(lesson: Lesson, exercise: str, name: str) -> None:
    """For authors: show the whole code of an answer that is written as a change."""
    from pytree_course.sources.lesson_sources import read_sources

    exercises = read_sources(lesson_with_exercises(lesson)).exercises
    if exercise not in exercises:
        raise CourseError(f"There is no exercise {exercise!r}: {', '.join(exercises)}.")
    codes = {answer.name: answer.source for answer in exercises[exercise].all_answers}
    if name not in codes:
        raise CourseError(f"{exercise} has no answer {name!r}: {', '.join(codes)}.")
    console.print(Text(codes[name]), soft_wrap=True)


@app.command()
def site(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """For authors: write the course as a website, from the built notebooks."""
    from pytree_course.authoring.website import write_site

    write_site(Course.above(), folder)
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

    with console.status("Comparing everything with its sources ..."):
        release_to(Course.above(), folder, colab)
    console.print(f"{folder} holds what learners get.")
