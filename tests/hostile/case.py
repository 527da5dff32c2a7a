"""A case of the corpus: what is handed in, and what grading must make of it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from pytree_course.built import ANSWER_ENDING
from pytree_course.course import Course
from tests.conftest import ROOT

LESSON = "01_leaves"
NOTHING = "nothing"
"""The state of a student of whom the gradebook has no attempt."""


def _right_answers() -> dict[str, str]:
    notebook = json.loads(Course(ROOT).lesson(LESSON).solutions.read_text(encoding="utf-8"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    return {
        cell.removesuffix(ANSWER_ENDING): code
        for cell, code in sources.items()
        if cell.endswith(ANSWER_ENDING)
    }


RIGHT = _right_answers()
"""Right answers to the lesson, by exercise."""

COUNT, SHAPES = RIGHT["count_leaves"], RIGHT["leaf_shapes"]


@dataclass(frozen=True)
class Case:
    """What one student hands in; every exercise that is not in `earns` must have no points.

    Attributes
    ----------
    answers
        Code of answer cells, by exercise.
    make
        Makes files in the student's folder, where the answers alone will not do. It is given the
        folder and a function that makes the notebook with given answers as text.
    earns
        The exercises that must have all their points; those without an answer get a right one.
    kinds
        The verdict's kind, for exercises where it matters which one it is.
    state
        The attempt's state, or `NOTHING` where there must be no attempt.
    reason
        Words that the attempt's reason, or one of its explanations, must contain.
    said
        Words that the command must print of it.
    student
        The name of its student's folder, where that matters.
    is_local
        Whether it disturbs no other exercise: then it shares a kernel with other local cases, and
        with right answers, which must stay right.
    """

    name: str
    family: str
    answers: Mapping[str, str] = field(default_factory=dict)
    make: Callable[[Path, Callable[[Mapping[str, str]], str]], None] | None = None
    earns: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    state: str = "graded"
    reason: str = ""
    said: str = ""
    student: str = ""
    is_local: bool = False

    @property
    def id(self) -> str:
        """What the case is called as a test, and its student, if it has one of its own."""
        return f"{self.family}-{re.sub(r'[^a-z0-9]+', '_', self.name.lower()).strip('_')}"


class Family:
    """Cases of one kind: a module in `families` makes one, and calls its `case` and `local`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases: list[Case] = []

    def case(self, name: str, answers: Mapping[str, str] | None = None, **more: Any) -> None:
        """Add a case that has a kernel of its own."""
        codes = {exercise: dedent(code).strip("\n") for exercise, code in (answers or {}).items()}
        self.cases.append(Case(name, self.name, codes, **more))

    def local(self, answers: Mapping[tuple[str, str], str], *, kind: str = "", **more: Any) -> None:
        """Add cases, by name and exercise, that are one answer each and disturb no other.

        `kind` is the kind of each one's verdict, where it matters.
        """
        for (name, exercise), code in answers.items():
            kinds = {exercise: kind} if kind else {}
            self.case(name, {exercise: code}, is_local=True, kinds=kinds, **more)
