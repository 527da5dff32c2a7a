"""What `explain` prints: the wrong results of a class that no misconception explains."""

from pathlib import Path

from pytree_course.authoring.authors_answers import run_answer
from pytree_course.authoring.sources import LessonSources, read_sources
from pytree_course.checking.finding_words import sentences
from pytree_course.checking.reported import Outcome
from pytree_course.checking.words import line_wrong
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.classroom.folder import ClassFolder
from pytree_course.classroom.gradebook import Gradebook
from pytree_course.course import Course
from pytree_course.rendering import render
from pytree_course.reports.clusters import Cluster, find_clusters


def unexplained(course: Course, file: Path) -> str:
    """Say what a gradebook holds unexplained, that of most students first, each with its cell.

    The author's own answers are run for the inputs of the cases; a student's never are.
    """
    with Gradebook(file) as gradebook:
        nothing_more = ClassFolder(file.parent, [], [], [])
        grades = ClassGrades.of(course, nothing_more, gradebook, None, None)
    clusters = find_clusters(grades, fewest=1)
    lessons = {each.lesson for each in clusters}
    sources = {stem: read_sources(course.lesson(stem)) for stem in lessons}
    return in_words([(each, _telling(each, sources[each.lesson])) for each in clusters])


def in_words(found: list[tuple[Cluster, dict[int, Outcome] | None]]) -> str:
    """Write what is unexplained, given with the cases that tell it from the right answer."""
    return render(
        "reports/unexplained.txt",
        found=found,
        students={student.id for cluster, _ in found for student in cluster.students},
        sentences=sentences,
        line_wrong=line_wrong,
    )


def _telling(cluster: Cluster, sources: LessonSources) -> dict[int, Outcome] | None:
    """Return the cases that tell it from the right answer; None where these have changed since."""
    exercise = sources.exercises.get(cluster.exercise)
    if exercise is None or cluster.attempt.checks != sources.exercises_digest:
        return None
    right = run_answer(sources, exercise, exercise.solution, cluster.attempt.seed)
    return {case + 1: right[case] for case in cluster.sample.failed if case < len(right)}
