"""Grades of a class that nobody handed in: what the reports are tested with."""

from datetime import UTC, datetime

from pytree_course.class_grading.attempt import Attempt, AttemptState, Basis, VerdictRow
from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.class_grading.gradebook import Memory
from pytree_course.class_grading.roster import Student
from pytree_course.judging.expected import (
    BuiltLesson,
    ExpectedExercise,
    LessonSection,
    Misconception,
)
from pytree_course.judging.verdicts import FailedCase, Finding, WrongLine
from pytree_course.observing.observations import Node, Number, Object, Raised, String, Treedef
from pytree_course.running.outcomes import Line
from pytree_course.texts import printable

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BASIS = Basis(NOON, "0.1.0", "python", "digest", 7)
SECRET = "the expected answer"
"""Stands in everything that a student may not see."""


def secret():
    return String("str", SECRET)


def made_lesson(stem="01_made", exercises=("count", "paths"), points=2):
    return BuiltLesson(
        lesson=stem,
        title=f"Lesson {stem}",
        sections={
            "leaves": LessonSection("What is a leaf?", 3, 0, False, []),
            "none": LessonSection("None is no leaf", 2, 0, False, []),
        },
        predictions={},
        exercises={name: _exercise(name, points) for name in exercises},
        sources="digest",
    )


def made_exercise(observations, **facts):
    """Make what is expected of an exercise; only what a test is about has to be said."""
    said = {
        "name": "count",
        "title": f"Exercise {facts.get('name', 'count')}",
        "answers": [facts.get("name", "count")],
        "points": 2,
        "minutes": 3,
        "stars": 1,
        "section": "leaves",
        "hints": [SECRET],
        "silent_bug": False,
        "core": False,
        "question": "",
        "functions": True,
        "misconceptions": [],
    } | facts
    return ExpectedExercise(observations=observations, **said)


def _exercise(name, points):
    wrong = [
        Misconception("none_is_a_leaf", "You count `None`.", "none", {0: secret()}),
        Misconception("counts_nodes", "You count nodes.", "leaves", {0: secret()}),
    ]
    return made_exercise([secret()], name=name, points=points, misconceptions=wrong)


def failure(got=None, **changes):
    given = Node(type="dict", aux=None, children=())
    made = {
        "case": 0,
        "inputs": (given,),
        "written": ("{}",),
        "got": got or Number("int", 41),
        "printed": "",
        "line": None,
        "note": "",
    }
    return FailedCase(**(made | changes))


def made_row(exercise, kind, points=2, **values):
    earned = points if kind == "correct" else 0
    if kind in ("incorrect", "error"):
        values = {"failure": failure(), "results": "digest", "passed": 1} | values
    values = {"cases": 5, "explanation": f"It is {kind}.", "seconds": 0.5} | values
    values = {"basis": BASIS} | values
    return VerdictRow(exercise, kind, earned, points, **values)


def made_attempt(student, rows, lesson="01_made", **values):
    values = {
        "file": f"/secret place/{student}/{lesson}.ipynb",
        "handed_in": NOON,
        "answers": {row.exercise: f"answer of {student}" for row in rows},
        "state": AttemptState.GRADED,
        "reason": "",
    } | values
    return Attempt(
        student=student,
        lesson=lesson,
        graded_at=NOON,
        rows=rows,
        **values,
    )


def made_grades(attempts, lessons=None, students=None, due=None):
    counting = {(attempt.student, attempt.lesson): attempt for attempt in attempts}
    if students is None:
        students = [Student(name) for name in sorted({name for name, _ in counting})]
    lessons = lessons or [made_lesson()]
    due_by_lesson = {lesson.lesson: due for lesson in lessons} if due else {}
    return ClassGrades(students, lessons, counting, Memory(due=due_by_lesson))


def strange_grades(text):
    """Return the grades of a class in which a text stands wherever a student's text can."""
    string = String("str", text)
    children = (
        (text, string),
        (f"[{text!r}]", Object(text, why=text)),
        ("[2]", Treedef(Object(text))),
    )
    seen = Node(type=text, aux=string, children=children)
    raised = Raised(text, (), {}, text)
    details = failure(
        raised, inputs=(seen, seen), written=(text, text), printed=text, note=text,
        line=Line(1, text),
    )  # fmt: skip
    line = dict.fromkeys(("name", "text", "said", "misconception"), text)
    line |= {"why": "belief", "data": {"explanation": text}}
    found = Finding("summary", [], {"sentence": text})
    rows = [
        made_row("count", "error", explanation=text, failure=details, findings=[found]),
        made_row("paths", "incorrect", lines=[WrongLine(**line)], misconceptions=[text]),
    ]
    answers = {"count": text, "paths": text}
    attempts = [made_attempt(name, rows, answers=answers, reason=text) for name in ("eve", "fay")]
    stuck = {"state": AttemptState.UNREADABLE, "reason": text}
    strange = printable(text)  # as the name of a folder becomes a student's id
    attempts += [made_attempt(name, [], "02_made", **stuck) for name in ("eve", strange)]
    students = [Student(name, text, login=text) for name in ("eve", "fay", strange)]
    return made_grades(attempts, [made_lesson(), made_lesson("02_made")], students)
