"""Spaced repetition: the questions that are due, by FSRS, with a card for each belief."""

import random
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter

from fsrs import Card, Rating, Scheduler

from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.judging.feedback import both_forms
from pytree_course.learner.progress import Progress, ReviewAnswer
from pytree_course.learner.questions import Question, is_same, questions
from pytree_course.learner.standings import unread_sections
from pytree_course.rendering import Feedback

MAX_A_DAY = 10  # questions: about five minutes
MAX_EXPLANATIONS = 2  # of one option
NOTHING_DUE = "Nothing is due today. {then}"
DONE = "{right} of {asked} right at the first try. Your mistakes will be asked about again. {then}"
THEN = "The next questions are due {day}."
NEVER = "Questions come from what you read, predict and try: begin with a lesson."
ONCE_MORE = "It comes once more at the end."
ANOTHER_DAY = "You will be asked this again on another day."
_SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


class Review:
    """The questions that are due, and the learner's progress with them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._progress = Progress.load(course.progress_file)
        self._lessons = {files.stem: BuiltLesson.read(files.expected) for files in course.lessons()}
        self.questions = due_questions(self._lessons.values(), self._progress, datetime.now(UTC))
        self.left = [*self.questions]
        self._right = 0  # at the first answer

    def next(self) -> Question | None:
        """Return the next question, if one is left."""
        return self.left.pop(0) if self.left else None

    @property
    def end(self) -> str:
        """The score, and when the next questions are due."""
        day = next_day(self._lessons.values(), self._progress, datetime.now(UTC))
        then = NEVER if day is None else THEN.format(day=day)
        words = DONE if self.questions else NOTHING_DUE
        return words.format(right=self._right, asked=len(self.questions), then=then)

    def show(self, question: Question) -> Feedback:
        """Show a question, with its number in this review."""
        place = "Once more"
        if question in self.questions:
            place = f"Question {self.questions.index(question) + 1} of {len(self.questions)}"
        title = self._lessons[question.about.lesson].title
        return both_forms("question", question=question, place=place, lesson=title)

    def answer(self, question: Question, choice: str) -> Feedback:
        """Record the first answer to a question, and explain whether it is right and why."""
        is_right = question.is_right(choice)
        chosen = question.misconceptions.get(question.options.get(choice, ""), [])
        news = []
        if question in self.questions:
            # Of several misconceptions, it is unknown which one the learner holds.
            held = [misconception.name for misconception in chosen if len(chosen) == 1]
            self._progress.review(question.about, question.case, is_right=is_right, held=held)
            self._right += is_right
            if not is_right:
                news.append(self._ask_again(question))
        explained = question.letter_of(question.mistaken) if is_right else choice
        misconceptions = question.misconceptions.get(question.mistaken, []) if is_right else chosen
        files = self._course.lesson(question.about.lesson)
        slug = misconceptions[0].section if misconceptions else question.section
        section = self._lessons[files.stem].sections[slug]
        notebook, heading = section.link_target(files, slug)
        return both_forms(
            "answered",
            question=question,
            explained=explained,
            misconceptions=misconceptions[:MAX_EXPLANATIONS],
            is_right=is_right,
            news=[*news, *self._progress.take_warnings()],
            section=section.title,
            link=self._course.link(notebook, heading),
        )

    def _ask_again(self, question: Question) -> str:
        """Append a question, with its options rotated, or say that it is asked another day."""
        if question.about.is_prediction:  # its right letter has been shown
            return ANOTHER_DAY
        self.left.append(question.rotated(1))
        return ONCE_MORE


def _cards(answers: Iterable[ReviewAnswer]) -> dict[Belief, Card]:
    """Return a card for each belief that was asked about, from the answers in order."""
    cards: dict[Belief, Card] = {}
    for answer in answers:
        rating = Rating.Good if answer.is_right else Rating.Again
        card = cards.get(answer.about, Card(card_id=0))
        cards[answer.about], _ = _SCHEDULER.review_card(card, rating, answer.time)
    return cards


def due_questions(
    lessons: Iterable[BuiltLesson], progress: Progress, now: datetime
) -> list[Question]:
    """Return the questions to ask now: at most ten a day, each of another exercise and set-up.

    Questions about mistakes come first, then questions that are due, the nearly forgotten first,
    and then new ones. New ones are about predictions, exercises that were begun, and core exercises
    whose section was read. The lessons take turns. Each question uses the case that was asked
    least. A mistake or prediction of today is asked about on another day.
    """
    today = _day(now)
    answers = sorted(progress.reviews)  # several notebooks may have written them
    cards = _cards(answers)
    last_answers = {answer.about: answer for answer in answers}
    times_asked = Counter((answer.about, answer.case) for answer in answers)
    waiting = []
    for lesson in lessons:
        mistakes = _mistakes(lesson, progress, today)
        met = _met(lesson, progress, today)
        for about, candidates in questions(lesson).items():
            card, last = cards.get(about), last_answers.get(about)
            is_mistake = about in mistakes and (last is None or last.time < mistakes[about])
            is_due = card.due <= now if card else about.exercise in met
            if is_mistake or is_due:
                was_wrong = last is not None and not last.is_right
                recall = _SCHEDULER.get_card_retrievability(card, now) if card else 0.0
                rank = (not is_mistake and not was_wrong, card is None, recall)
                question = min(candidates, key=lambda other: times_asked[about, other.case])
                waiting.append((rank, question.rotated(times_asked[about, question.case])))
    random.Random(str(today)).shuffle(waiting)  # not in the lesson's order
    waiting.sort(key=itemgetter(0))
    turns: Counter[tuple[bool, str]] = Counter()
    in_turn = []
    for (is_no_mistake, *_), question in waiting:
        lessons_turn = is_no_mistake, question.about.lesson
        turns[lessons_turn] += 1
        in_turn.append((is_no_mistake, turns[lessons_turn], question))
    in_turn.sort(key=itemgetter(0, 1))
    return _todays([question for *_, question in in_turn], progress, today)


def next_day(lessons: Iterable[BuiltLesson], progress: Progress, now: datetime) -> str | None:
    """Return the next day that has questions, in words; None if nothing was read or tried."""
    lessons = list(lessons)
    waits = {1, *((card.due - now).days + 1 for card in _cards(sorted(progress.reviews)).values())}
    for wait in sorted(wait for wait in waits if wait > 0):
        day = now + timedelta(wait)
        if due_questions(lessons, progress, day):
            return "tomorrow" if wait == 1 else f"on {day:%A}, {day.day} {day:%B}"
    return None


def _todays(waiting: list[Question], progress: Progress, today: date) -> list[Question]:
    """Return today's questions: the first ones, without an exercise, wording or set-up twice."""
    answered = [answer.about[:2] for answer in progress.reviews if _day(answer.time) == today]
    asked: set[object] = {*answered}
    chosen = []
    for question in waiting:
        exercise = question.about[:2]
        once_a_day = {exercise, question.text, *question.set_up}
        if asked.isdisjoint(once_a_day):
            asked |= once_a_day
            chosen.append(question)
    return chosen[: max(0, MAX_A_DAY - len(answered))]


def _day(time: datetime) -> date:
    return time.astimezone().date()


def _met(lesson: BuiltLesson, progress: Progress, today: date) -> set[str]:
    """Return the exercises and predictions of which questions may be asked for the first time."""
    unread = unread_sections(lesson, progress)
    exercises = {
        name
        for name, exercise in lesson.exercises.items()
        if (lesson.lesson, name) in progress.exercises
        or (exercise.core and lesson.sections[exercise.section] not in unread)
    }
    return exercises | {
        name
        for (stem, name), made in progress.predictions.items()
        if stem == lesson.lesson and _day(made.time) < today
    }


def _mistakes(lesson: BuiltLesson, progress: Progress, today: date) -> dict[Belief, datetime]:
    """Return the times of mistakes before today: misconceptions held, and wrong predictions."""
    wrong_predictions = {
        Belief(lesson.lesson, name): made.time
        for name, prediction in lesson.predictions.items()
        if (made := progress.predictions.get((lesson.lesson, name)))
        and not is_same(made.choice, prediction.answer)
    }
    mistakes = progress.misconceptions_held | wrong_predictions
    return {about: time for about, time in mistakes.items() if _day(time) < today}
