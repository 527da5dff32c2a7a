"""The teachers' commands: classroom, grade, appeal, explain, questions."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import segno
import typer
from rich.text import Text

from pytree_course.cli.app import (
    Lesson,
    app,
    console,
    errors,
    lesson_with_exercises,
    parse_deadline,
    warn,
)
from pytree_course.course import Course, CourseError, LessonFiles
from pytree_course.texts import counted, printable, write_file

if TYPE_CHECKING:  # importing grading is slow
    from concurrent.futures import Executor

    from pytree_course.class_grading.class_grades import ClassGrades
    from pytree_course.class_grading.corrections import Correction
    from pytree_course.class_grading.folder import ClassFolder
    from pytree_course.class_grading.grade_class import Summary
    from pytree_course.class_grading.gradebook import Gradebook
    from pytree_course.class_grading.roster import RosterEntry
    from pytree_course.reports.class_statistics import TimesInClass

THIS_MACHINE = "127.0.0.1"
GRADEBOOK = "gradebook.sqlite"
MAX_LEFT_OUT = 20
MAX_CASES = 5  # of an appeal, shown in full
QUESTION_TEMPLATES = {
    ".md": "reports/questions.md",
    ".ipynb": "reports/slides.txt",
    ".xml": "reports/questions.xml",
}
UNSANDBOXED = (
    "Without the sandbox, the notebooks can read and change all your files, and use the network. "
    "Do this with your own work only."
)

Grades = Annotated[
    Path,
    typer.Argument(metavar="FOLDER_OR_GRADEBOOK", help="Where `grade` wrote to, or its gradebook."),
]
Unsandboxed = Annotated[
    bool, typer.Option("--unsandboxed", help="Run answers without protection: only your own!")
]


@app.command()
def classroom(
    into: Annotated[
        Path, typer.Option(metavar="FILE", help="The file that the session is kept in.")
    ] = Path("classroom.sqlite"),
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 lets every machine in the network join.")
    ] = THIS_MACHINE,
    port: Annotated[int, typer.Option(help="Where to listen; 0 chooses a free one.")] = 8910,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For https: the certificate, as PEM.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The certificate's key, if in another file.")
    ] = None,
) -> None:
    """For teachers: see what a class in one room believes, while it works.

    If you start it again with the same file, the session continues.
    """
    from pytree_course.board.pages import Pages
    from pytree_course.board.server import listen, serve
    from pytree_course.board.session import Session

    sockets, encryption = listen(host, port, certificate, key)
    session = Session(into)
    protocol = "https" if encryption else "http"
    address = f"{protocol}://{_find_address(host)}:{sockets[0].getsockname()[1]}"
    pages = Pages(Course.above(), session, address)
    console.print(f'Learners join with: join("{address}", "{session.room.code}")', soft_wrap=True)
    segno.make(f"{address}/?code={session.room.code}").terminal(compact=True)
    console.print(f"Your board: {address}/board?token={session.room.token}", soft_wrap=True)
    console.print(f"The session is kept in {into}. Ctrl-C stops the server, and keeps the session.")
    if host == THIS_MACHINE:
        console.print("Only this machine can join. For all of its network: --host 0.0.0.0")
    else:
        warn("Every machine in this network can reach this server.")
        if not certificate:
            warn("Without --certificate, the network can read everything that is sent.")
    try:
        asyncio.run(serve(pages, sockets, encryption))
    except KeyboardInterrupt:
        session.log.close()


def _find_address(host: str) -> str:
    """Return this machine's address in the network; finding it sends no packet."""
    if host != "0.0.0.0":
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return THIS_MACHINE
        return str(probe.getsockname()[0])


@app.command()
def grade(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The submissions: a download from Canvas, Moodle or Brightspace, a folder with "
            "a folder for each student, or nbgrader's `submitted`; also as a zip. Without it, the "
            "answers in the gradebook are brought up to date.",
            show_default=False,
        ),
    ] = None,
    *,
    into: Annotated[Path, typer.Option(help="Where the gradebook, the tables and the pages go.")],
    lesson: Annotated[list[str] | None, typer.Option(help="Only this lesson.")] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="How many notebooks run at once on this machine.")
    ] = os.cpu_count() or 1,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run them on the Dask cluster with this scheduler."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The class: CSV with the columns student, name and group, or Canvas's export of "
            "grades. The gradebook remembers it.",
        ),
    ] = None,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Mark later submissions as late: 2026-11-30 (the end of that day), or a time. It "
            "holds for each --lesson, or for all lessons that are handed in, and is remembered.",
        ),
    ] = None,
    corrections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own points and comments: CSV with the columns student, lesson, exercise, "
            "points and comment. They are added to earlier ones; later gradings keep them.",
        ),
    ] = None,
    classroom: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The file of a `classroom` session: the report gets its times."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Run also notebooks that are up to date, on the same cases."),
    ] = False,
    new_cases: Annotated[
        bool,
        typer.Option("--new-cases", help="Draw other cases, and grade the whole class on them."),
    ] = False,
    public_cases: Annotated[
        bool,
        typer.Option(
            "--public-cases",
            help="Accept that, without the course's sources, grading uses the learners' cases.",
        ),
    ] = False,
    unsandboxed: Unsandboxed = False,
) -> None:
    """For teachers: grade a class; write a gradebook, tables and pages."""
    from pytree_course.class_grading.pool import local_pool, prepare_processes

    prepare_processes()  # they start while this process imports the rest

    from pytree_course.class_grading.class_grades import ClassGrades
    from pytree_course.class_grading.corrections import read_corrections
    from pytree_course.class_grading.folder import ClassFolder, read_handed_in
    from pytree_course.class_grading.grade_class import ClassGrading, GradingOptions
    from pytree_course.class_grading.gradebook import Gradebook
    from pytree_course.class_grading.roster import (
        find_students,
        read_canvas_columns,
        read_roster,
    )
    from pytree_course.grading.limits import READING_SECONDS
    from pytree_course.reports.class_statistics import read_times
    from pytree_course.reports.terminal import grading_progress

    course = Course.above()
    with ExitStack() as resources:
        with _prefix_errors("Nothing was graded."):
            stems = [lesson_with_exercises(name).stem for name in lesson or ()]
            options = GradingOptions(stems, force, in_sandbox=not unsandboxed)
            deadline = parse_deadline(due) if due else None
            class_list = read_roster(roster) if roster else _remembered_roster(into)
            times = read_times(classroom) if classroom else {}
            pools = None
            submitted = ClassFolder()
            if folder is None:
                _gradebook_file(into)
            else:
                # They get ready while this process reads.
                pools = resources.enter_context(_pools([folder, into], jobs, dask, unsandboxed))
                with local_pool(1, task_seconds=READING_SECONDS) as reading_pool:
                    submitted = read_handed_in(folder, course, into, reading_pool, class_list)
            for stem in sorted({notebook.lesson for notebook in submitted.notebooks}):
                if options.wants(stem):
                    _warn_about_public_cases(course.lesson(stem), is_accepted=public_cases)

            gradebook = resources.enter_context(Gradebook(into / GRADEBOOK))
            new_corrections = []
            if corrections:
                submitters = gradebook.memory().submitters | submitted.submitters
                students = find_students(submitters, class_list)
                attempts = gradebook.attempts()
                handed_in = {(each.student, each.lesson) for each in attempts}
                handed_in |= {(each.student, each.lesson) for each in submitted.notebooks}
                new_corrections = read_corrections(corrections, course, students, handed_in)
            _warn_about_files(submitted, deadline)
            if new_cases:
                for stem in stems or [files.stem for files in course.lessons()]:
                    gradebook.draw_seed(stem)
            grading = ClassGrading(course, submitted, gradebook, options)
            work = grading.find_work()
            if work and pools is None:
                pools = resources.enter_context(_pools([into], jobs, dask, unsandboxed))
        with _prefix_errors("Grading stopped."):
            deadlines = gradebook.memory().due
            if deadline:
                lessons = {notebook.lesson for notebook in submitted.notebooks}
                deadlines = deadlines | dict.fromkeys(stems or lessons, deadline)
            gradebook.remember(roster=class_list, due=deadlines)
            if roster:
                gradebook.remember(canvas_columns=read_canvas_columns(roster))
            if pools is not None:
                with grading_progress(errors) as show_progress:
                    grading.run(work, *pools, show_progress)
            grading.find_new_reasons()
        if corrections:
            _add_corrections(gradebook, new_corrections)
        grades = ClassGrades.combine(course, gradebook, submitted)
        _write_and_show(grades, grading.summary, into, times)
        gradebook.remember_report()
    raise typer.Exit(1 if grading.summary.failed else 0)


@contextmanager
def _pools(
    private: list[Path], jobs: int, dask: str | None, unsandboxed: bool
) -> "Iterator[tuple[Executor, Executor]]":
    """Make the pools that submissions and the author's answers run in.

    No sandbox shows one of the private folders, nor those that hold answers.
    """
    from pytree_course.class_grading.pool import dask_cluster, local_pool
    from pytree_course.grading.sandbox import class_sandboxes

    with ExitStack() as resources:
        begin_process = None
        if unsandboxed:
            warn(UNSANDBOXED)
        else:
            root = Course.above().root
            with_answers = filter(Path.is_dir, (root / "sources", root / "solutions"))
            begin_process = resources.enter_context(class_sandboxes([*private, *with_answers]))
        authors_pool = resources.enter_context(local_pool(1))
        pool = dask_cluster(dask) if dask else local_pool(jobs, begin_process)
        yield resources.enter_context(pool), authors_pool


def _gradebook_file(grades: Path) -> Path:
    """Return the gradebook in a folder, or the one that is named; raise CourseError without one."""
    file = grades / GRADEBOOK if grades.is_dir() else grades
    if not file.exists():
        raise CourseError(f"{file} does not exist. Name the folder that `grade --into` wrote to.")
    return file


def _remembered_roster(into: Path) -> "list[RosterEntry]":
    """Return the roster that an earlier grading was given."""
    from pytree_course.class_grading.gradebook import Gradebook

    if not (into / GRADEBOOK).exists():
        return []
    with Gradebook(into / GRADEBOOK) as gradebook:
        return gradebook.memory().roster


def _warn_about_public_cases(files: LessonFiles, *, is_accepted: bool) -> None:
    """Warn that a lesson without sources has no fresh cases; raise CourseError unless accepted."""
    if files.sources.exists():
        return
    from pytree_course.class_grading.class_grades import ON_PUBLIC_CASES

    warning = f"There is no sources/{files.stem} here, so its notebooks are {ON_PUBLIC_CASES}."
    if not is_accepted:
        raise CourseError(
            f"{warning} Grade with the teacher's copy of the course, or accept it with "
            "--public-cases."
        )
    warn(warning)


def _warn_about_files(submitted: "ClassFolder", deadline: datetime | None) -> None:
    """Warn about files that are left out, and about doubts in the others."""
    systems = sorted({submitter.system for submitter in submitted.submitters.values()} - {""})
    if deadline and systems:
        warn(
            f"A download from {' or '.join(systems)} does not say for certain when work was handed "
            "in: --due does not apply to it. What was late is marked there."
        )
    for student, file, reason in submitted.left_out[:MAX_LEFT_OUT]:
        warn(printable(f"Left out: {PurePath(student, file)}: {reason}"))
    more = len(submitted.left_out) - MAX_LEFT_OUT
    if more > 0:
        warn(f"… and {more:,} more are left out: the report and grades.csv say why.")
    for doubt in submitted.doubts:
        warn(printable(doubt))


def _add_corrections(gradebook: "Gradebook", new_corrections: "list[Correction]") -> None:
    """Store the teacher's corrections, and show which earlier ones they replace."""
    from pytree_course.class_grading.attempt import counting_attempts
    from pytree_course.class_grading.corrections import add_corrections

    attempts = counting_attempts(gradebook.attempts())
    all_corrections, replaced = add_corrections(
        new_corrections, gradebook.memory().corrections, attempts
    )
    gradebook.remember(corrections=all_corrections)
    read = counted(len(new_corrections), "correction", "corrections")
    console.print(
        f"{read} read, {len(replaced)} in place of earlier ones; "
        f"the gradebook has {len(all_corrections)}."
    )
    for change in replaced:
        console.print(Text(printable(change)), soft_wrap=True)


def _write_and_show(
    grades: "ClassGrades", summary: "Summary", into: Path, times: "TimesInClass"
) -> None:
    """Write tables and pages, and show the outcome; raise CourseError if a file is not written."""
    from pytree_course.class_grading.class_grades import ON_PUBLIC_CASES
    from pytree_course.reports.csv_tables import explain_import_gaps, write_tables
    from pytree_course.reports.feedback_zips import write_feedback_zips
    from pytree_course.reports.pages import write_pages
    from pytree_course.reports.terminal import show_class

    not_written = [*write_tables(grades, into), *write_pages(grades, into, times)]
    not_written += write_feedback_zips(grades, into)
    show_class(summary, grades, into, console)
    for remark in explain_import_gaps(grades):
        warn(remark)
    for stem in grades.lessons_on_public_cases:
        warn(f"{stem}: {ON_PUBLIC_CASES}.")
    if not_written:
        files = "\n".join(map(printable, not_written))
        raise CourseError(
            "The grades are in the gradebook, but not all tables and pages could be written; the "
            "earlier files are unchanged. Fix that, and start again: no notebook runs twice.\n"
            f"{files}"
        )


@contextmanager
def _prefix_errors(state: str) -> Iterator[None]:
    """Put the state of the work before the message of a `CourseError`."""
    try:
        yield
    except CourseError as error:
        raise CourseError(f"{state} {error}") from error


@app.command()
def explain(
    grades: Grades,
) -> None:
    """For teachers and authors: list wrong results that no misconception explains."""
    from pytree_course.class_grading.class_grades import ClassGrades
    from pytree_course.class_grading.gradebook import Gradebook
    from pytree_course.reports.class_statistics import find_clusters
    from pytree_course.reports.pages import render

    with Gradebook(_gradebook_file(grades)) as gradebook:
        all_grades = ClassGrades.combine(Course.above(), gradebook)
    clusters = find_clusters(all_grades, min_students=1)
    text = render("reports/unexplained.txt", clusters=clusters)
    console.print(Text(text), soft_wrap=True)


@app.command()
def appeal(
    grades: Grades,
    student: Annotated[str, typer.Argument(help="The student, as in the report's tables.")],
    lesson: Lesson,
    exercise: Annotated[str, typer.Argument(help="The exercise, such as count_leaves.")],
    unsandboxed: Unsandboxed = False,
) -> None:
    """For teachers: show what decided a mark, and grade the answer again on the same cases."""
    from pytree_course.class_grading.appeal import find_differences, grade_again, recorded_grading
    from pytree_course.class_grading.class_grades import ClassGrades
    from pytree_course.class_grading.gradebook import Gradebook
    from pytree_course.class_grading.roster import find_student
    from pytree_course.reports.pages import render

    course = Course.above()
    stem = lesson_with_exercises(lesson).stem
    file = _gradebook_file(grades)
    with Gradebook(file) as gradebook:
        all_grades = ClassGrades.combine(course, gradebook)
        found = find_student(student, all_grades.students)
        counting = all_grades.counting.get((found.id, stem))
        if counting is None:
            raise CourseError(f"Nothing that {student} handed in for {stem} was graded.")
        then = recorded_grading(counting, exercise, gradebook.results)
        attempts = gradebook.attempts()
    earlier = [
        each
        for each in attempts
        if (each.student, each.lesson) == (counting.student, stem)
        and then.basis not in [row.basis for row in each.rows if row.exercise == exercise]
    ]
    values = {"attempt": counting, "earlier": earlier, "student": found, "most": MAX_CASES}
    console.print(Text(render("reports/appeal.txt", then=then, **values)), soft_wrap=True)
    with _prefix_errors("It cannot be graded again."), ExitStack() as resources:
        pools = resources.enter_context(_pools([file.parent], 1, None, unsandboxed))
        now = grade_again(course, counting, then, pools, in_sandbox=not unsandboxed)
    differences = find_differences(then, now)
    text = render("reports/appeal_again.txt", then=then, now=now, differences=differences)
    console.print(Text(f"\n{text}"), soft_wrap=True)
    raise typer.Exit(0 if now.agrees_with(then) else 1)


@app.command()
def questions(
    lesson: Lesson,
    into: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Markdown (.md), slides (.ipynb) or Moodle's XML (.xml)."
        ),
    ],
) -> None:
    """For teachers and authors: write questions to vote on, made from misconceptions."""
    from pytree_course.judging.expected import BuiltLesson
    from pytree_course.learner.questions import for_class
    from pytree_course.learner.questions import questions as questions_by_belief
    from pytree_course.reports.pages import render

    if into.suffix not in QUESTION_TEMPLATES:
        raise CourseError(f"{into}: the name should end in .md, .ipynb (slides) or .xml (Moodle).")
    expected = BuiltLesson.read(lesson_with_exercises(lesson).expected)
    asked = for_class(questions_by_belief(expected))
    if not asked:
        raise CourseError(f"{expected.title} has no questions: nothing was written.")
    text = render(QUESTION_TEMPLATES[into.suffix], expected=expected, asked=asked)
    write_file(into, text + "\n")
    console.print(f"{into} holds {len(asked)} questions; the board has those of two options, too.")
