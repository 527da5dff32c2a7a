"""Students' pages as zips that Canvas and Moodle take back, named as the submissions were.

Canvas (`infer_comment_context_from_filename` in `app/models/abstract_assignment.rb` of
instructure/canvas-lms) finds the submission by the ids in a file's name, for an assignment, and
ignores files of other assignments. Their comment shows the page under the name of the file that was
handed in. A page for one member of a group becomes a comment for each of them.

Moodle (`mod/assign/feedback/file/importziplib.php` in moodle/moodle) finds the student by the
number in a folder's name, which is an assignment's, and ignores other numbers. A group's number may
be another student's, so only the work of students who are known from the roster is in the zip.
"""

import io
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from zipfile import ZIP_DEFLATED, ZipFile

from pytree_course.class_grading.attempt import Attempt
from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.class_grading.roster import Student
from pytree_course.judging.expected import BuiltLesson
from pytree_course.reports.pages import render_student
from pytree_course.texts import write_files

_MOODLES_FOLDER = re.compile(r"[^_]+_\d+_assignsubmission_[a-z]+")


def write_feedback_zips(grades: ClassGrades, into: Path) -> list[str]:
    """Write `feedback-canvas.zip` and `feedback-moodle.zip`, if submissions came from there.

    Return a message for each file that could not be written.
    """
    pages: dict[str, dict[tuple[str, Student], list[BuiltLesson]]] = {}
    for student, lesson, attempt in grades.all_attempts():
        if name := _name_of_page(student, attempt):
            of_system = pages.setdefault(attempt.system, defaultdict(list))
            of_system[name, student].append(lesson)
    return write_files(
        {
            into / f"feedback-{system.casefold()}.zip": partial(_zip_pages, grades, lessons)
            for system, lessons in pages.items()
        }
    )


def _name_of_page(student: Student, attempt: Attempt) -> str:
    """Return the name by which a platform takes a student's page back; "" if it does not."""
    if attempt.student != student.id:  # another member of the group handed it in
        return ""
    if attempt.system == CANVAS and attempt.handed_in_as:
        return str(PurePath(attempt.handed_in_as).with_suffix(".html"))
    if attempt.system == MOODLE and student.login:
        folder = _MOODLES_FOLDER.match(attempt.handed_in_as)
        return f"{folder[0]}/feedback.html" if folder else ""
    return ""


def _zip_pages(
    grades: ClassGrades, pages: Mapping[tuple[str, Student], list[BuiltLesson]]
) -> bytes:
    """Return a zip of students' pages, each with the lessons of one submission."""
    archive = io.BytesIO()
    with ZipFile(archive, "w", ZIP_DEFLATED) as zipped:
        for (name, student), lessons in pages.items():
            zipped.writestr(name, render_student(replace(grades, lessons=lessons), student))
    return archive.getvalue()
