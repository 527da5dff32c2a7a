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
    HeldMisconception,
    count_solved_and_trying,
    find_current_misconceptions,
    find_stuck_learners,
    plan_minutes,
    propose_question,
)
from pytree_course.board.session import CaseKey, Session
from pytree_course.cases.case import load_checks
from pytree_course.course import Course, LessonFiles
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES, feedback
from pytree_course.judging.judge import judge
from pytree_course.learner.questions import Question, for_class, questions
from pytree_course.rendering import Feedback
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_check

MAX_IN_GRID = 40  # learners; for a larger class, only counts are shown
MAX_MISCONCEPTIONS = 6  # shown at once
MAX_QUESTIONS = 20  # listed at once


class FeedbackOnBelief(NamedTuple):
    """The feedback on a misconception, and the cases that it shows."""

    feedback: Feedback
    cases: set[CaseKey]


class Pages:
    """Makes the pages of a session, in which learners join at `address`."""

    def __init__(self, course: Course, session: Session, address: str) -> None:
        self.session, self._room, self._address = session, session.room, address
        qr = segno.make(f"{address}/?code={self._room.code}", error="m")
        self._qr = Markup(qr.svg_inline(omitsize=True, light="#fff"))
        self.lessons = {files.stem: BuiltLesson.read(files.expected) for files in course.lessons()}
        # Both can take seconds, but only once for each lesson and each misconception.
        self.questions = cache(lambda lesson: questions(self.lessons[lesson], min_options=2))
        self.feedback = cache(
            lambda belief: reproduce_feedback(
                course.lesson(belief.lesson), self.lessons[belief.lesson], belief
            )
        )

    @property
    def lesson(self) -> BuiltLesson:
        """The lesson on the board: the one that the teacher began, or that was checked first."""
        first_lesson = next(iter(self.lessons.values()))
        return self.lessons.get(self._room.lesson, first_lesson)

    @property
    def question(self) -> Question | None:
        """The question of the current vote."""
        vote = self._room.vote
        if vote is None:
            return None
        candidates = self.questions(vote.about.lesson).get(vote.about, ())
        return {question.case: question for question in candidates}.get(vote.case)

    def find_most_common(self, question: Question, option: str) -> Misconception:
        """Return the misconception behind a wrong option that most learners' last checks showed.

        If several are equally common, prefer the one that the question is about.
        """
        lesson, exercise, name = question.about
        holders = Counter[str]()
        for learner in self._room.learners.values():
            holders.update(learner.work[lesson, exercise].misconceptions)
        return max(
            question.misconceptions[option],
            key=lambda belief: (holders[belief.name], belief.name == name),
        )

    def find_misconceptions(self) -> list[HeldMisconception]:
        """Return the most common current misconceptions."""
        return find_current_misconceptions(self._room, self.lesson)[:MAX_MISCONCEPTIONS]

    def find_beliefs_with_feedback(self) -> list[Belief]:
        """Return the misconceptions whose feedback the board and the projector show."""
        beliefs = [
            holders.belief
            for misconception in self.find_misconceptions()
            for holders in misconception.by_exercise
        ]
        if self._room.projected:
            beliefs.append(self._room.projected)
        return beliefs

    def render_board(self, now: datetime) -> dict[str, str]:
        """Return the parts of the teacher's board, by their ids."""
        misconceptions = self.find_misconceptions()
        beliefs = self.find_beliefs_with_feedback()
        feedback_on = {belief: self.feedback(belief) for belief in beliefs}
        known_cases = set(self._room.cases_voted_on)
        for shown in feedback_on.values():
            known_cases |= shown.cases
        lesson_questions = chain.from_iterable(self.questions(self.lesson.lesson).values())
        values = {
            **self._shared_values(now),
            "is_board": True,
            "misconceptions": misconceptions,
            "feedback_on": feedback_on,
            "stuck": find_stuck_learners(self._room, self.lesson),
            "proposed": propose_question(self._room, misconceptions, lesson_questions, known_cases),
        }
        parts = ("class", "vote", "reasons", "stuck", "note")
        return {part: FEEDBACK_TEMPLATES.render(f"board/{part}.html", **values) for part in parts}

    def render_screen(self, now: datetime) -> dict[str, str]:
        """Return the one part of the projector's page, which names no learner."""
        projected = self._room.projected
        html = FEEDBACK_TEMPLATES.render(
            "board/screen.html",
            **self._shared_values(now),
            is_board=False,
            feedback=self.feedback(projected).feedback if projected else None,
        )
        return {"screen": html}

    def _shared_values(self, now: datetime) -> dict[str, object]:
        """Return the values that the parts of both pages use."""
        room, lesson = self._room, self.lesson
        learners = sorted(room.learners.values(), key=lambda learner: learner.name.casefold())
        began = room.lesson_began or now

        def minutes_since(time: datetime) -> int:
            return int((now - time).total_seconds() // 60)

        return {
            "room": room,
            "expected": lesson,
            "learners": learners,
            "is_small": len(learners) <= MAX_IN_GRID,
            "plan": plan_minutes(lesson),
            "minute": minutes_since(began),
            "minutes_since": minutes_since,
            "counts": {
                exercise: count_solved_and_trying(learners, lesson.lesson, exercise)
                for exercise in lesson.exercises
            },
            "vote": room.vote,
            "question": self.question,
            "find_most_common": self.find_most_common,
            "address": self._address,
            "qr": self._qr,
        }

    def render_frame(self, page: str) -> str:
        """Return a page, "board" or "screen", without its parts."""
        return FEEDBACK_TEMPLATES.render(
            f"board/{page}_page.html", room=self._room, address=self._address, lessons=self.lessons
        )

    def render_questions(self, exercise: str, name: str) -> str:
        """Return the page with the lesson's questions; the page's form chooses which."""
        chosen = self.choose_questions(exercise, name)
        beliefs = [
            belief.name
            for belief in self.questions(self.lesson.lesson)
            if belief.exercise == exercise
        ]
        return FEEDBACK_TEMPLATES.render(
            "board/questions_page.html",
            room=self._room,
            expected=self.lesson,
            questions=chosen[:MAX_QUESTIONS],
            left=len(chosen[MAX_QUESTIONS:]),
            chosen=(exercise, name),
            beliefs=beliefs,
        )

    def choose_questions(self, exercise: str, name: str) -> list[Question]:
        """Return the questions about an exercise and a misconception; the form sends "" for all."""
        by_belief = self.questions(self.lesson.lesson)
        if name:
            return by_belief.get(Belief(self.lesson.lesson, exercise, name), [])
        return [
            question
            for question in for_class(by_belief)
            if exercise in ("", question.about.exercise)
        ]


def reproduce_feedback(files: LessonFiles, lesson: BuiltLesson, belief: Belief) -> FeedbackOnBelief:
    """Return the feedback that the learners who hold a misconception have read.

    What they got is stored; the inputs are those of the check, the same for any answer: here for
    the placeholder of a starter.
    """
    exercise = lesson.expected(belief.exercise)
    by_name = {misconception.name: misconception for misconception in exercise.misconceptions}
    misconception = by_name[belief.name]
    check = load_checks(files.check_script)[belief.exercise]
    outcomes = run_check(check, [...] * len(exercise.answers), PUBLIC_SEED)
    mistaken_outcomes = []
    for case, outcome in enumerate(outcomes):
        observation = misconception.observations.get(case, exercise.observations[case])
        mistaken_outcomes.append(structs.replace(outcome, observation=observation))
    judged = judge(exercise, mistaken_outcomes)
    verdict = replace(judged, misconceptions=(misconception,), findings=())
    section = f"{lesson.title}, {lesson.sections[misconception.section].title}"
    # Without a smallest case, in an exercise about lines, the feedback shows all wrong lines.
    cases = [verdict.failure.case] if verdict.failure else verdict.failed
    case_keys = {CaseKey(belief.exercise, str(case)) for case in cases}
    return FeedbackOnBelief(feedback(verdict, section=section), case_keys)
