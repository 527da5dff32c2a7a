"""Grades as JUnit XML, for programs that read test results."""

from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from pytree_course.checking.feedback import feedback
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.grading.grade import Grade


@dataclass(frozen=True)
class _Case:
    """An exercise as a test case."""

    name: str
    kind: str
    message: str
    text: str = ""
    time: str | None = None


def notebook_junit(grade: Grade) -> str:
    """Return a notebook's grade: an exercise is a test case."""
    cases = []
    for verdict in grade.verdicts:
        match verdict.kind:
            case VerdictKind.CORRECT | VerdictKind.NOT_ATTEMPTED:
                cases.append(_Case(verdict.exercise, verdict.kind, verdict.reason))
            case kind:
                message = f"{kind}: {verdict.reason}"
                cases.append(_Case(verdict.exercise, kind, message, feedback(verdict).text))
    return _text(_suite(grade.lesson, cases))


def class_junit(grades: ClassGrades) -> str:
    """Return a class's grades: a student's lesson is a test suite, an exercise a test case."""
    root = Element("testsuites")
    for student, lesson, attempt in grades.all_attempts():
        cases = [
            _Case(
                row.exercise, row.kind, f"{row.kind}: {row.explanation}", time=f"{row.seconds:.3f}"
            )
            for row in attempt.rows
        ]
        suite = _suite(f"{student.id}.{lesson.lesson}", cases)
        suite.set("time", f"{attempt.seconds:.3f}")
        root.append(suite)
    return _text(root)


def _suite(name: str, cases: list[_Case]) -> Element:
    kinds = [case.kind for case in cases]
    skipped = kinds.count(VerdictKind.NOT_ATTEMPTED)
    suite = Element(
        "testsuite",
        name=xml_text(name),
        tests=str(len(kinds)),
        failures=str(len(kinds) - kinds.count(VerdictKind.CORRECT) - skipped),
        skipped=str(skipped),
        errors="0",
    )
    for case in cases:
        test = SubElement(suite, "testcase", classname=xml_text(name), name=case.name)
        if case.time is not None:
            test.set("time", case.time)
        if case.kind == VerdictKind.NOT_ATTEMPTED:
            SubElement(test, "skipped", message=xml_text(case.message))
        elif case.kind != VerdictKind.CORRECT:
            failure = SubElement(test, "failure", message=xml_text(case.message))
            failure.text = xml_text(case.text) or None
    return suite


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold at all, such as NUL."""
    return "".join(
        character if character in "\t\n" or ord(character) >= 32 else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
