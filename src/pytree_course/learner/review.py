"""Spaced repetition: the questions that are due, by FSRS, with a card for each belief."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from operator import itemgetter

from fsrs import Card, Rating, Scheduler

from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.judging.feedback import both_forms
from pytree_course.learner.progress import Progress, Reviewed
from pytree_course.learner.questions import RAISES, Question, is_same, questions
from pytree_course.learner.standings import unread_sections
from pytree_course.rendering import Feedback

MAX_A_DAY = 10  # questions: about five minutes
MAX_BELIEFS = 2  # that are explained of one option
NOTHING_DUE = (
    "Nothing is due today. What goes wrong in exercises and predictions is asked tomorrow."
)
DONE = "That was all for today. What went wrong, in exercises too, is asked in the next days."
ONCE_MORE = "It comes once more at the end."
ANOTHER_DAY = "It is asked again in the next days."
_SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


class Review:
    """The questions that are due, and the learner's progress with them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._progress = Progress.load(course.progress_file)
        self._lessons = {files.stem: BuiltLesson.read(files.expected) for files in course.lessons()}
        self.questions = due(self._lessons.values(), self._progress, datetime.now(UTC))
        self.left = [*self.questions]

    def next(self) -> Question | None:
        """Return the next question, if one is left."""
        return self.left.pop(0) if self.left else None

    @property
    def end(self) -> str:
        """What to say when no question is left."""
        return DONE if self.questions else NOTHING_DUE

    def asked(self, question: Question) -> Feedback:
        """Show a question, and how far the review is; one that was wrong comes once more."""
        place = "Once more"
        if question in self.questions:
            place = f"Question {self.questions.index(question) + 1} of {len(self.questions)}"
        title = self._lessons[question.about.lesson].title
        return both_forms("question", question=question, place=place, lesson=title)

    def answer(self, question: Question, choice: str) -> Feedback:
        """Keep the first answer, and say whether it is right, and why.

        What was wrong comes once more at the end, if its options can be in another order.
        """
        is_right, said = question.is_right(choice), question.text_of(choice)
        beliefs = question.beliefs.get(said, [])
        held = beliefs[0].name if len(beliefs) == 1 else ""  # of several: unknown
        news = []
        if question in self.questions:
            self._progress.review(question.about, question.case, right=is_right, held=held)
            if not is_right:
                news = [self._comes_again(question)]
        files = self._course.lesson(question.about.lesson)
        slug = beliefs[0].section if beliefs else question.section
        section = self._lessons[files.stem].sections[slug]
        place = files.place(slug, section.title, deeper=section.deeper)
        other = question.mistaken if is_right else said
        return both_forms(
            "answered",
            question=question,
            said=said,
            other=other.replace(RAISES, "an error"),
            beliefs=question.beliefs.get(other, [])[:MAX_BELIEFS],
            is_right=is_right,
            news=[*news, *self._progress.news()],
            section=section.title,
            link=self._course.link(*place),
        )

    def _comes_again(self, question: Question) -> str:
        orders = map(question.reordered, range(1, 9))
        # In the same order, the right letter would be known.
        if again := next((each for each in orders if each != question), None):
            self.left.append(again)
            return ONCE_MORE
        return ANOTHER_DAY


def cards(reviews: Iterable[Reviewed]) -> dict[Belief, tuple[Card, Reviewed]]:
    """Return each belief's card and last review, whatever order the events come in."""
    made: dict[Belief, tuple[Card, Reviewed]] = {}
    for review in sorted(reviews):
        card, before = made.get(review.about, (Card(card_id=0), review))
        rating = Rating.Again
        if review.right:
            rating = Rating.Good if before.right else Rating.Hard
        made[review.about] = (_SCHEDULER.review_card(card, rating, review.time)[0], review)
    return made


def due(lessons: Iterable[BuiltLesson], progress: Progress, now: datetime) -> list[Question]:
    """Return the questions to ask now: at most ten a day, one of each exercise.

    Those about mistakes come first, then those that are due, the nearly forgotten first, and then
    new ones about what was read. Each belief is asked about in the case that was asked least.
    What was wrong or predicted today is asked on another day.
    """
    today = now.astimezone().date()
    known = cards(progress.reviews)
    asked = Counter((review.about, review.case) for review in progress.reviews)
    times = Counter(review.about for review in progress.reviews)
    waiting = []
    for lesson in lessons:
        unread = unread_sections(lesson, progress)
        for about, fitting in questions(lesson).items():
            card, last = known.get(about, (None, None))
            is_due = is_mistaken = _is_mistaken(about, lesson, progress, last, today)
            rank = 0.0
            if card and last:
                is_due |= card.due <= now
                is_mistaken |= not last.right
                rank = _SCHEDULER.get_card_retrievability(card, now)
            else:
                was_read = lesson.sections[fitting[0].section] not in unread
                predicted = progress.predicted.get(about[:2])
                is_due |= was_read if about.name else bool(predicted and _day(predicted) < today)
            if is_due:
                question = min(fitting, key=lambda shown: asked[shown.about, shown.case])
                question = question.reordered(times[about])
                waiting.append(((not is_mistaken, about not in known, rank), question))
    waiting.sort(key=itemgetter(0))
    answered = [review.about[:2] for review in progress.reviews if _day(review.time) == today]
    met: set[object] = {*answered}  # exercises, and questions as they are worded
    chosen = []
    for _, question in waiting:
        if met.isdisjoint(said := (question.about[:2], question.text)):
            met.update(said)
            chosen.append(question)
    return chosen[: max(0, MAX_A_DAY - len(answered))]


def _day(time: datetime) -> date:
    return time.astimezone().date()


def _is_mistaken(
    about: Belief, lesson: BuiltLesson, progress: Progress, last: Reviewed | None, today: date
) -> bool:
    """Say whether a mistake of an earlier day shows this belief, and it was not asked since."""
    if about in progress.held:
        held = progress.held[about]
        return _day(held) < today and (last is None or held > last.time)
    predicted = progress.predictions.get(about[:2])
    if about.name or predicted is None or last is not None:
        return False
    if _day(progress.predicted[about[:2]]) == today:
        return False
    return not is_same(predicted, lesson.predictions[about.exercise].answer)
