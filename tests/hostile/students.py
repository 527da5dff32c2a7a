"""The class of the corpus: which cases share a student, and what each student hands in."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pytree_course.course import Course, answer_id
from pytree_course.sources.exercises import Answer
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ExerciseNotebook, put
from tests.hostile.case import LESSON, Case

FIRST, MIDDLE, LAST = "0-honest", "m-honest", "zz-honest"
"""Honest students: the first, one in the middle and the last of the class."""


@dataclass
class Student:
    """One folder of the class: the cases that are handed in there, and right answers beside."""

    name: str
    lesson: str
    cases: list[Case] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)  # exercises that are answered rightly

    @property
    def answers(self) -> dict[str, str]:
        """Code of all cases, by exercise."""
        return {name: code for case in self.cases for name, code in case.answers.items()}


@cache
def right_answers(course: Course, lesson: str) -> dict[str, str]:
    notebook = json.loads(course.lesson(lesson).solutions.read_text(encoding="utf-8"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    ending = answer_id("")
    return {
        cell.removesuffix(ending): code for cell, code in sources.items() if cell.endswith(ending)
    }


def wrong_answer(course: Course, lesson: str, exercise: str, misconception: str) -> Answer:
    answers = read_sources(course.lesson(lesson)).exercises[exercise].misconceptions
    return next(answer for answer in answers if answer.name == misconception)


def seated(course: Course, cases: Iterable[Case]) -> list[Student]:
    """Give every case a student: local cases of a family share one while exercises are free."""
    students: list[Student] = []
    for case in cases:
        shared = (
            student
            for student in students
            if case.is_local
            and student.cases[0].is_local
            and (student.lesson, student.cases[0].family) == (case.lesson, case.family)
            and not student.answers.keys() & case.answers.keys()
        )
        student = next(shared, None)
        if student is None:
            name = case.student or case.id
            if case.is_local:
                together = sum(each.cases[0].is_local for each in students)
                name = f"{case.family}-together-{together + 1}"
            students.append(student := Student(name, case.lesson))
        student.cases.append(case)
    for student in students:
        every: Collection[str] = right_answers(course, student.lesson)
        if not student.cases[0].is_local:
            every = student.cases[0].earns
        student.beside = [name for name in every if name not in student.answers]
    return students


def honest(course: Course, students: Iterable[Student]) -> list[Student]:
    """Return the canaries: their answers are right, and nothing that others do may cost a point."""
    lessons = sorted({student.lesson for student in students})
    attacked = {
        lesson: [
            name
            for name in right_answers(course, lesson)
            if any(name in each.answers for each in students if each.lesson == lesson)
        ]
        for lesson in lessons
    }
    return [
        *(Student(FIRST, lesson, beside=attacked[lesson]) for lesson in lessons),
        *(
            Student(name, LESSON, beside=[*right_answers(course, LESSON)])
            for name in (MIDDLE, LAST)
        ),
    ]


def hand_in(course: Course, student: Student, folder: Path) -> None:
    """Make a student's folder, or add another lesson to it."""
    folder.mkdir(parents=True, exist_ok=True)

    def written(answers: Mapping[str, str]) -> str:
        notebook = ExerciseNotebook(course.lesson(student.lesson).blank)
        for exercise, code in answers.items():
            notebook.answer(exercise, code)
        return json.dumps(notebook.content)

    if student.cases and student.cases[0].make is not None:
        student.cases[0].make(folder, written)
        return
    right = right_answers(course, student.lesson)
    answers = student.answers | {name: right[name] for name in student.beside}
    put(folder / course.lesson(student.lesson).exercises.name, written(answers))
