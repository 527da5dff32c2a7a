"""The teacher's pages: their parts, which are sent again whenever they have changed."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache

import segno
from markupsafe import Markup

from pytree_course.board.going_round import (
    Reason,
    going_round,
    parts_best,
    planned,
    shown_to,
    stuck,
)
from pytree_course.board.room import Learner
from pytree_course.board.session import Session
from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.judging.feedback import render
from pytree_course.learner.questions import Question, for_class

MOST_IN_GRID = 40  # learners; of more, only counts are shown
MOST_REASONS = 6


class Pages:
    """Makes the pages of a session, in which learners join at `address`."""

    def __init__(self, course: Course, session: Session, address: str) -> None:
        self.session, self._room, self._address = session, session.room, address
        qr = segno.make(f"{address}/?code={self._room.code}", error="m")
        self._qr = Markup(qr.svg_inline(omitsize=True, light="#fff"))
        files = {each.stem: each for each in course.lessons()}
        self.lessons = {stem: BuiltLesson.read(each.expected) for stem, each in files.items()}
        self.questions = cache(lambda lesson: for_class(self.lessons[lesson]))
        # Of a misconception; made once, which takes up to a second.
        self.feedback = cache(
            lambda about: shown_to(files[about.lesson], self.lessons[about.lesson], about)
        )

    @property
    def lesson(self) -> BuiltLesson:
        """The lesson that the board shows: the first one that somebody worked on, or chosen."""
        return self.lessons.get(self._room.lesson) or next(iter(self.lessons.values()))

    @property
    def question(self) -> Question | None:
        """What the vote is about."""
        about = self._room.vote.about if self._room.vote else None
        asked = self.questions(about.lesson) if about and about.lesson in self.lessons else ()
        return next((each for each in asked if each.about == about), None)

    def reasons(self, now: datetime) -> list[Reason]:
        """Return what goes round now, that of most learners first."""
        return going_round(self._room, self.lesson, now)[:MOST_REASONS]

    def shown(self, now: datetime) -> list[Belief]:
        """Return the misconceptions whose feedback the board and the projector show."""
        on_screen = [self._room.shown] if self._room.shown else []
        return [*on_screen, *(each.about for each in self.reasons(now))]

    def board(self, now: datetime) -> dict[str, str]:
        """Return the parts of the teacher's board, by their ids."""
        reasons = self.reasons(now)
        values = self._values(now) | {
            "reasons": [(each, Markup(self.feedback(each.about).html)) for each in reasons],
            "stuck": [*stuck(self._room, self.lesson, now)],
            "proposed": parts_best(self._room, reasons, self.questions(self.lesson.lesson)),
        }
        parts = ("class", "vote", "reasons", "stuck")
        return {part: render(f"board/{part}.html", **values) for part in parts}

    def screen(self, now: datetime) -> dict[str, str]:
        """Return the one part of the projector's page, which names no learner."""
        shown = self._room.shown
        feedback = Markup(self.feedback(shown).html) if shown else None
        values = self._values(now) | {"names": False, "feedback": feedback}
        return {"screen": render("board/screen.html", **values)}

    def whole(self, page: str, now: datetime) -> str:
        """Return a page, whose parts are sent after it: "board", "screen" or "questions"."""
        values = self._values(now) | {"questions": self.questions(self.lesson.lesson)}
        return render(f"board/{page}_page.html", lessons=self.lessons, **values)

    def _values(self, now: datetime) -> dict[str, object]:
        room, began = self._room, self._room.began
        learners = sorted(room.learners.values(), key=lambda each: each.name.casefold())
        return {
            "room": room,
            "expected": self.lesson,
            "learners": learners,
            "names": len(learners) <= MOST_IN_GRID,
            "plan": planned(self.lesson),
            "minute": int((now - began).total_seconds() // 60) if began else 0,
            "solved_and_tried": solved_and_tried,
            "vote": room.vote,
            "question": self.question,
            "address": self._address,
            "qr": self._qr,
        }


def solved_and_tried(
    learners: Iterable[Learner], expected: BuiltLesson, exercise: str
) -> tuple[int, int]:
    """Return how many have solved an exercise, and how many tried it in vain so far."""
    work = [each.at(expected.lesson, exercise) for each in learners]
    solved = sum(each.is_solved for each in work)
    return solved, sum(each.tries > 0 for each in work if not each.is_solved)
