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

    def show(self, question: Question) -> Feedback:
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
        is_right, text = question.is_right(choice), question.text_of(choice)
        misconceptions = question.beliefs.get(text, [])
        news = []
        if question in self.questions:
            # Of several misconceptions, it is unknown which one the learner holds.
            held = misconceptions[0].name if len(misconceptions) == 1 else ""
            self._progress.review(question.about, question.case, right=is_right, held=held)
            if not is_right:
                news.append(self._ask_again(question))
        files = self._course.lesson(question.about.lesson)
        slug = misconceptions[0].section if misconceptions else question.section
        section = self._lessons[files.stem].sections[slug]
        notebook, heading = section.link_target(files, slug)
        explained = question.mistaken if is_right else text
        return both_forms(
            "answered",
            question=question,
            said=text,
            other=explained.replace(RAISES, "an error"),
            beliefs=question.beliefs.get(explained, [])[:MAX_BELIEFS],
            is_right=is_right,
            news=[*news, *self._progress.news()],
            section=section.title,
            link=self._course.link(notebook, heading),
        )

    def _ask_again(self, question: Question) -> str:
        """Let a question come once more in this review, or say that it is asked another day."""
        if not question.about.name:  # a prediction, whose right letter is known now
            return ANOTHER_DAY
        self.left.append(question.reordered(1))
        return ONCE_MORE


def cards(reviews: Iterable[Reviewed]) -> dict[Belief, tuple[Card, Reviewed]]:
    """Return each belief's card and last review, whatever order the events come in."""
    by_belief: dict[Belief, tuple[Card, Reviewed]] = {}
    for review in sorted(reviews):
        card, before = by_belief.get(review.about, (Card(card_id=0), review))
        rating = Rating.Again
        if review.right:
            rating = Rating.Good if before.right else Rating.Hard
        card, _ = _SCHEDULER.review_card(card, rating, review.time)
        by_belief[review.about] = card, review
    return by_belief


def due(lessons: Iterable[BuiltLesson], progress: Progress, now: datetime) -> list[Question]:
    """Return the questions to ask now: at most ten a day, one of each exercise.

    Those about mistakes come first, then those that are due, the nearly forgotten first, and then
    new ones about what was read. Each belief is asked about in the case that was asked least.
    What was wrong or predicted today is asked on another day.
    """
    today = _day(now)
    reviewed = cards(progress.reviews)
    times = Counter(review.about for review in progress.reviews)
    times_of_case = Counter((review.about, review.case) for review in progress.reviews)
    waiting = []
    for lesson in lessons:
        unread = unread_sections(lesson, progress)
        for about, candidates in questions(lesson).items():
            card, last_review = reviewed.get(about, (None, None))
            is_mistaken = _is_mistaken(about, lesson, progress, last_review, today)
            rank = (not is_mistaken, True, 0.0)
            if card and last_review:
                is_due = card.due <= now
                is_first = is_mistaken or not last_review.right
                rank = (not is_first, False, _SCHEDULER.get_card_retrievability(card, now))
            elif about.name:
                is_due = lesson.sections[candidates[0].section] not in unread
            else:
                is_due = _was_predicted_on_another_day(about, progress, today)
            if is_mistaken or is_due:
                question = min(candidates, key=lambda other: times_of_case[about, other.case])
                waiting.append((rank, question.reordered(times[about])))
    waiting.sort(key=itemgetter(0))
    return _one_of_each_exercise([question for _, question in waiting], progress, today)


def _one_of_each_exercise(
    waiting: list[Question], progress: Progress, today: date
) -> list[Question]:
    """Return the first questions that fit into today, without an exercise or a wording twice."""
    answered = [
        _exercise_of(review.about) for review in progress.reviews if _day(review.time) == today
    ]
    exercises, texts = {*answered}, set()
    chosen = []
    for question in waiting:
        exercise = _exercise_of(question.about)
        if exercise not in exercises and question.text not in texts:
            exercises.add(exercise)
            texts.add(question.text)
            chosen.append(question)
    return chosen[: max(0, MAX_A_DAY - len(answered))]


def _exercise_of(about: Belief) -> tuple[str, str]:
    """Return the lesson and its exercise or prediction."""
    return about.lesson, about.exercise


def _day(time: datetime) -> date:
    return time.astimezone().date()


def _was_predicted_on_another_day(about: Belief, progress: Progress, today: date) -> bool:
    prediction = _exercise_of(about)
    return prediction in progress.predicted and _day(progress.predicted[prediction]) != today


def _is_mistaken(
    about: Belief, lesson: BuiltLesson, progress: Progress, last: Reviewed | None, today: date
) -> bool:
    """Return whether a mistake of an earlier day shows this belief, and it was not asked since."""
    if about in progress.held:
        time = progress.held[about]
        return _day(time) < today and (last is None or time > last.time)
    if about.name or last is not None or not _was_predicted_on_another_day(about, progress, today):
        return False
    choice = progress.predictions[_exercise_of(about)]
    return not is_same(choice, lesson.predictions[about.exercise].answer)
