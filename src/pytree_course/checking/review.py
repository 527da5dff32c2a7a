"""Reviews: which questions are due, by FSRS with a card for each belief."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from fsrs import Card, Rating, Scheduler

from pytree_course.checking.expected import Belief, Expected
from pytree_course.checking.progress import Progress, Reviewed
from pytree_course.checking.questions import Question, is_same, questions
from pytree_course.checking.standings import unread_sections

MOST_A_DAY = 10  # questions: about five minutes
_SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def cards(reviews: Iterable[Reviewed]) -> dict[Belief, Card]:
    """Return the card of each belief that was asked about, whatever order the events come in."""
    made: dict[Belief, Card] = {}
    was_right: dict[Belief, bool] = {}
    for each in sorted(reviews):
        rating = Rating.Again
        if each.right:
            rating = Rating.Good if was_right.get(each.about, True) else Rating.Hard
        card = made.get(each.about, Card(card_id=0))
        made[each.about], _ = _SCHEDULER.review_card(card, rating, each.time)
        was_right[each.about] = each.right
    return made


def due(lessons: Iterable[Expected], progress: Progress, now: datetime) -> list[Question]:
    """Return the questions to ask now: at most ten a day, those about mistakes first.

    Then come those that are due, the nearly forgotten first, and then new ones about what was
    read, of each exercise in turn. Each belief is asked about in the case that was asked least.
    """
    known = cards(progress.reviews)
    last = {each.about: each for each in sorted(progress.reviews)}
    asked = Counter((each.about, each.case) for each in progress.reviews)
    new_in: Counter[tuple[str, str]] = Counter()
    waiting = []
    for lesson in lessons:
        met = _met(lesson, progress)
        for about, fitting in questions(lesson).items():
            is_mistaken = _is_mistaken(about, lesson, progress, last.get(about))
            if about in known:
                is_due = is_mistaken or known[about].due <= now
                is_mistaken |= not last[about].right
                rank = _SCHEDULER.get_card_retrievability(known[about], now)
            else:
                is_due = is_mistaken or fitting[0].section in met or about in met
                new_in[about[:2]] += is_due
                rank = new_in[about[:2]]
            if is_due:
                question = min(fitting, key=lambda each: asked[each.about, each.case])
                waiting.append(((not is_mistaken, about not in known, rank), question))
    waiting.sort(key=lambda each: each[0])
    today = now.astimezone().date()
    done = sum(each.time.astimezone().date() == today for each in progress.reviews)
    return [question for _, question in waiting][: max(0, MOST_A_DAY - done)]


def _met(lesson: Expected, progress: Progress) -> set[str | Belief]:
    """Return the slugs of the sections that count as read, and the predictions that were made."""
    unread = unread_sections(lesson, progress)
    read = {slug for slug, section in lesson.sections.items() if section not in unread}
    made = {Belief(*names) for names in progress.predictions if names[0] == lesson.lesson}
    return read | made


def _is_mistaken(
    about: Belief, lesson: Expected, progress: Progress, last: Reviewed | None
) -> bool:
    """Say whether a mistake shows this belief, and no question about it was answered since."""
    if about in progress.held:
        return last is None or progress.held[about] > last.time
    predicted = progress.predictions.get(about[:2])
    if about.name or predicted is None or last is not None:
        return False
    return not is_same(predicted, lesson.predictions[about.exercise].answer)
