"""Grades as JUnit XML, for programs that read test results."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from pytree_course.checking.feedback import feedback
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.grading.grade import Grade
from pytree_course.texts import truncate

LONGEST_TEXT = 20_000
_NO_XML = re.compile("[^\\t\\n\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def notebook_junit(grade: Grade) -> str:
    """Return a notebook's grade: an exercise is a test case."""
    suite = _suite(grade.lesson, [verdict.kind for verdict in grade.verdicts])
    for verdict in grade.verdicts:
        is_skipped = verdict.kind is VerdictKind.NOT_ATTEMPTED
        message = verdict.reason if is_skipped else f"{verdict.kind}: {verdict.reason}"
        _add_case(suite, verdict.exercise, verdict.kind, message, feedback(verdict).text)
    return _text(suite)


def class_junit(grades: ClassGrades) -> str:
    """Return a class's grades: a student's lesson is a test suite, an exercise a test case."""
    root = Element("testsuites")
    for student, lesson, attempt in grades.all_attempts():
        suite = _suite(f"{student.id}.{lesson.lesson}", [row.kind for row in attempt.rows])
        suite.set("time", f"{attempt.seconds:.3f}")
        for row in attempt.rows:
            test = _add_case(suite, row.exercise, row.kind, f"{row.kind}: {row.explanation}")
            test.set("time", f"{row.seconds:.3f}")
        root.append(suite)
    return _text(root)


def _suite(name: str, kinds: Sequence[str]) -> Element:
    skipped = kinds.count(VerdictKind.NOT_ATTEMPTED)
    return Element(
        "testsuite",
        name=xml_text(name),
        tests=str(len(kinds)),
        failures=str(len(kinds) - kinds.count(VerdictKind.CORRECT) - skipped),
        skipped=str(skipped),
        errors="0",
    )


def _add_case(suite: Element, exercise: str, kind: str, message: str, text: str = "") -> Element:
    test = SubElement(suite, "testcase", classname=suite.get("name", ""), name=xml_text(exercise))
    if kind == VerdictKind.NOT_ATTEMPTED:
        SubElement(test, "skipped", message=xml_text(message))
    elif kind != VerdictKind.CORRECT:
        SubElement(test, "failure", message=xml_text(message)).text = xml_text(text) or None
    return test


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold at all, such as NUL, and cut off what is long."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", truncate(text, LONGEST_TEXT))
