"""The teacher's pages: board, projector, list of questions."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain
from typing import NamedTuple

import segno
from markupsafe import Markup
from msgspec import structs

from pytree_course.board.class_analysis import (
    CaseKey,
    Reason,
    count_solved_and_trying,
    current_reasons,
    planned_minutes,
    propose_question,
    stuck_learners,
)
from pytree_course.board.session import Session
from pytree_course.cases.case import load_checks
from pytree_course.course import Course, LessonFiles
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES, feedback
from pytree_course.judging.judge import judge
from pytree_course.learner.questions import Question, for_class, questions
from pytree_course.rendering import Feedback
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_check

MAX_IN_GRID = 40  # learners; of more, only counts are shown
MAX_REASONS = 6
MAX_QUESTIONS = 20  # listed at once


class ShownFeedback(NamedTuple):
    """The feedback on a misconception, and the cases that it shows."""

    feedback: Feedback
    cases: set[CaseKey]


class Pages:
    """Makes the pages of a session, in which learners join at `address`."""

    def __init__(self, course: Course, session: Session, address: str) -> None:
        self.session, self._room, self._address = session, session.room, address
        qr = segno.make(f"{address}/?code={self._room.code}", error="m")
        self._qr = Markup(qr.svg_inline(omitsize=True, light="#fff"))
        self._files = {files.stem: files for files in course.lessons()}
        self.lessons = {
            stem: BuiltLesson.read(files.expected) for stem, files in self._files.items()
        }
        # Both are made once, because this takes up to seconds.
        self.questions = cache(lambda lesson: questions(self.lessons[lesson], fewest=2))
        self.feedback = cache(
            lambda about: feedback_for_holders(
                self._files[about.lesson], self.lessons[about.lesson], about
            )
        )

    @property
    def lesson(self) -> BuiltLesson:
        """The lesson that the board shows: the first one that somebody worked on, or chosen."""
        first_lesson = next(iter(self.lessons.values()))
        return self.lessons.get(self._room.lesson, first_lesson)

    @property
    def question(self) -> Question | None:
        """The question of the current vote."""
        vote = self._room.vote
        if vote is None:
            return None
        for question in self.questions(vote.about.lesson).get(vote.about, ()):
            if question.case == vote.case:
                return question
        return None

    def commonest(self, question: Question, option: str) -> Misconception:
        """Return, of the beliefs behind a wrong option, what most last checks showed.

        Of equally common ones, return that which the question is about.
        """
        lesson, exercise, name = question.about
        holders = Counter[str]()
        for learner in self._room.learners.values():
            holders.update(learner.work[lesson, exercise].misconceptions)
        return max(
            question.beliefs[option],
            key=lambda belief: (holders[belief.name], belief.name == name),
        )

    def listed(self, exercise: str, name: str) -> list[Question]:
        """Return the lesson's questions about an exercise and a belief, or about all for ""."""
        by_belief = self.questions(self.lesson.lesson)
        if name:
            return by_belief.get(Belief(self.lesson.lesson, exercise, name), [])
        return [
            question
            for question in for_class(by_belief)
            if exercise in ("", question.about.exercise)
        ]

    def reasons(self, now: datetime) -> list[Reason]:
        """Return the current misconceptions, the most common first."""
        return current_reasons(self._room, self.lesson, now)[:MAX_REASONS]

    def beliefs_with_feedback(self, now: datetime) -> list[Belief]:
        """Return the misconceptions whose feedback the board and the projector show."""
        beliefs = [place.about for reason in self.reasons(now) for place in reason.places]
        if self._room.projected:
            beliefs.append(self._room.projected)
        return beliefs

    def board(self, now: datetime) -> dict[str, str]:
        """Return the parts of the teacher's board, by their ids."""
        reasons = self.reasons(now)
        feedback_on = {about: self.feedback(about) for about in self.beliefs_with_feedback(now)}
        known_cases = self._room.cases_voted_on.union(
            *(shown.cases for shown in feedback_on.values())
        )
        lesson_questions = chain.from_iterable(self.questions(self.lesson.lesson).values())
        values = {
            **self._shared_values(now),
            "is_board": True,
            "reasons": reasons,
            "feedback_on": feedback_on,
            "stuck": list(stuck_learners(self._room, self.lesson, now)),
            "proposed": propose_question(self._room, reasons, lesson_questions, known_cases),
        }
        parts = ("class", "vote", "reasons", "stuck", "note")
        return {part: FEEDBACK_TEMPLATES.render(f"board/{part}.html", **values) for part in parts}

    def screen(self, now: datetime) -> dict[str, str]:
        """Return the one part of the projector's page, which names no learner."""
        projected = self._room.projected
        html = FEEDBACK_TEMPLATES.render(
            "board/screen.html",
            **self._shared_values(now),
            is_board=False,
            feedback=self.feedback(projected).feedback if projected else None,
        )
        return {"screen": html}

    def whole(self, page: str, now: datetime, exercise: str, name: str) -> str:
        """Return a page, whose parts are sent after it: "board", "screen" or "questions"."""
        listed = self.listed(exercise, name)
        beliefs = [
            belief.name
            for belief in self.questions(self.lesson.lesson)
            if belief.exercise == exercise
        ]
        return FEEDBACK_TEMPLATES.render(
            f"board/{page}_page.html",
            **self._shared_values(now),
            lessons=self.lessons,
            questions=listed[:MAX_QUESTIONS],
            left=len(listed[MAX_QUESTIONS:]),
            chosen=(exercise, name),
            beliefs=beliefs,
        )

    def _shared_values(self, now: datetime) -> dict[str, object]:
        """Return the values that the templates of all pages use."""
        room, lesson = self._room, self.lesson
        learners = sorted(room.learners.values(), key=lambda learner: learner.name.casefold())
        began = room.lesson_began or now
        return {
            "room": room,
            "expected": lesson,
            "learners": learners,
            "is_small": len(learners) <= MAX_IN_GRID,
            "plan": planned_minutes(lesson),
            "minute": int((now - began).total_seconds() // 60),
            "counts": {
                exercise: count_solved_and_trying(learners, lesson, exercise)
                for exercise in lesson.exercises
            },
            "vote": room.vote,
            "question": self.question,
            "commonest": self.commonest,
            "address": self._address,
            "qr": self._qr,
        }


def feedback_for_holders(files: LessonFiles, lesson: BuiltLesson, about: Belief) -> ShownFeedback:
    """Return the feedback that the learners who hold a misconception have read.

    The check runs without an answer, only for its inputs; the observations are stored.
    """
    facts = lesson.expected(about.exercise)
    [misconception] = [known for known in facts.misconceptions if known.name == about.name]
    ran = run_check(
        load_checks(files.check_script)[about.exercise],
        [_no_answer] * len(facts.answers),
        PUBLIC_SEED,
    )
    outcomes = []
    for case, outcome in enumerate(ran):
        observation = misconception.observations.get(case, facts.observations[case])
        outcomes.append(structs.replace(outcome, observation=observation))
    verdict = replace(judge(facts, outcomes), misconceptions=(misconception,), findings=())
    section = f"{lesson.title}, {lesson.sections[misconception.section].title}"
    # Without a smallest case, in an exercise about lines, the feedback shows all wrong lines.
    cases = [verdict.failure.case] if verdict.failure else verdict.failed
    case_keys = {(about.exercise, str(case)) for case in cases}
    return ShownFeedback(feedback(verdict, section=section), case_keys)


def _no_answer(*_: object) -> None:
    raise NotImplementedError
