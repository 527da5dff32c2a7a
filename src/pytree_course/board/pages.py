"""The teacher's pages: board, projector, list of questions."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain

import segno
from markupsafe import Markup
from msgspec import structs

from pytree_course.board.class_analysis import (
    CaseKey,
    Reason,
    going_round,
    planned,
    proposed,
    solved_and_tried,
    stuck,
)
from pytree_course.board.session import Session
from pytree_course.cases.case import load_checks
from pytree_course.course import Course, LessonFiles
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.judging.feedback import feedback, render
from pytree_course.judging.judge import judge
from pytree_course.learner.questions import Question, for_class, questions
from pytree_course.rendering import Feedback
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_check

MAX_IN_GRID = 40  # learners; of more, only counts are shown
MAX_REASONS = 6
MAX_QUESTIONS = 20  # listed at once


class Pages:
    """Makes the pages of a session, in which learners join at `address`."""

    def __init__(self, course: Course, session: Session, address: str) -> None:
        self.session, self._room, self._address = session, session.room, address
        qr = segno.make(f"{address}/?code={self._room.code}", error="m")
        self._qr = Markup(qr.svg_inline(omitsize=True, light="#fff"))
        files = {each.stem: each for each in course.lessons()}
        self.lessons = {stem: BuiltLesson.read(each.expected) for stem, each in files.items()}
        self.questions = cache(lambda lesson: questions(self.lessons[lesson], fewest=2))
        # Of a misconception: made once, which takes up to a second.
        self.feedback = cache(
            lambda about: shown_to(files[about.lesson], self.lessons[about.lesson], about)
        )

    @property
    def lesson(self) -> BuiltLesson:
        """The lesson that the board shows: the first one that somebody worked on, or chosen."""
        return self.lessons.get(self._room.lesson) or next(iter(self.lessons.values()))

    @property
    def question(self) -> Question | None:
        """The question of the current vote."""
        vote = self._room.vote
        if vote is None or vote.about.lesson not in self.lessons:
            return None
        asked = self.questions(vote.about.lesson).get(vote.about, ())
        return next((each for each in asked if each.case == vote.case), None)

    def commonest(self, question: Question, option: str) -> Misconception:
        """Return, of the beliefs behind a wrong option, what most last checks showed."""
        lesson, exercise, asked = question.about
        work = [each.work[lesson, exercise] for each in self._room.learners.values()]
        held = Counter(name for each in work for name in each.held)
        return max(question.beliefs[option], key=lambda each: (held[each.name], each.name == asked))

    def listed(self, exercise: str, name: str) -> list[Question]:
        """Return the lesson's questions about an exercise and a belief, or about all for ""."""
        by_belief = self.questions(self.lesson.lesson)
        if name:
            return by_belief.get(Belief(self.lesson.lesson, exercise, name), [])
        return [each for each in for_class(by_belief) if exercise in ("", each.about.exercise)]

    def reasons(self, now: datetime) -> list[Reason]:
        """Return the current misconceptions, the most common first."""
        return going_round(self._room, self.lesson, now)[:MAX_REASONS]

    def shown(self, now: datetime) -> list[Belief]:
        """Return the misconceptions whose feedback the board and the projector show."""
        on_screen = [self._room.shown] if self._room.shown else []
        return on_screen + [place.about for each in self.reasons(now) for place in each.places]

    def board(self, now: datetime) -> dict[str, str]:
        """Return the parts of the teacher's board, by their ids."""
        reasons = self.reasons(now)
        shown = {about: self.feedback(about) for about in self.shown(now)}
        known = {case for cases, _ in shown.values() for case in cases} | self._room.asked
        asked = chain.from_iterable(self.questions(self.lesson.lesson).values())
        values = self._values(now) | {
            "reasons": reasons,
            "feedback_on": {about: Markup(said.html) for about, (_, said) in shown.items()},
            "stuck": [*stuck(self._room, self.lesson, now)],
            "proposed": proposed(self._room, reasons, asked, known),
        }
        parts = ("class", "vote", "reasons", "stuck", "note")
        return {part: render(f"board/{part}.html", **values, choose=True) for part in parts}

    def screen(self, now: datetime) -> dict[str, str]:
        """Return the one part of the projector's page, which names no learner."""
        shown = self._room.shown
        feedback = Markup(self.feedback(shown)[1].html) if shown else None
        values = self._values(now) | {"names": False, "feedback": feedback}
        return {"screen": render("board/screen.html", **values)}

    def whole(self, page: str, now: datetime, exercise: str = "", name: str = "") -> str:
        """Return a page, whose parts are sent after it: "board", "screen" or "questions"."""
        listed = self.listed(exercise, name)
        values = self._values(now) | {
            "questions": listed[:MAX_QUESTIONS],
            "left": len(listed[MAX_QUESTIONS:]),
            "chosen": (exercise, name),
            "beliefs": [
                each.name
                for each in self.questions(self.lesson.lesson)
                if each.exercise == exercise
            ],
        }
        return render(f"board/{page}_page.html", lessons=self.lessons, **values)

    def _values(self, now: datetime) -> dict[str, object]:
        room, began, lesson = self._room, self._room.began, self.lesson
        learners = sorted(room.learners.values(), key=lambda each: each.name.casefold())
        return {
            "room": room,
            "expected": lesson,
            "learners": learners,
            "names": len(learners) <= MAX_IN_GRID,
            "plan": planned(lesson),
            "minute": int((now - began).total_seconds() // 60) if began else 0,
            "counts": {name: solved_and_tried(learners, lesson, name) for name in lesson.exercises},
            "vote": room.vote,
            "question": self.question,
            "commonest": self.commonest,
            "address": self._address,
            "qr": self._qr,
        }


def shown_to(
    files: LessonFiles, expected: BuiltLesson, about: Belief
) -> tuple[set[CaseKey], Feedback]:
    """Return the cases that the feedback on a misconception shows, and this feedback.

    The check runs without an answer, only for its inputs; the observations are stored.
    """
    facts = expected.expected(about.exercise)
    [held] = [each for each in facts.misconceptions if each.name == about.name]
    ran = run_check(
        load_checks(files.check_script)[about.exercise],
        [_not_there] * len(facts.answers),
        PUBLIC_SEED,
    )
    outcomes = [
        structs.replace(outcome, observation=held.observations.get(case, facts.observations[case]))
        for case, outcome in enumerate(ran)
    ]
    verdict = replace(judge(facts, outcomes), misconceptions=(held,), findings=())
    section = f"{expected.title}, {expected.sections[held.section].title}"
    cases = [verdict.failure.case] if verdict.failure else verdict.failed  # all of wrong lines
    shown = {(about.exercise, str(case)) for case in cases}
    return shown, feedback(verdict, section=section)


def _not_there(*_: object) -> None:
    raise NotImplementedError
