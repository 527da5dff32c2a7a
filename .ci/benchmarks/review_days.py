"""A simulated learner: how many questions a day in 90 days, and how much is kept.

    python .ci/benchmarks/review_days.py

The learner reads a lesson every five days and comes back every day, or on some days only. What was
asked is forgotten by FSRS's own model, with the course's own scheduler; what was never asked is
answered right as often as `FIRST_TIME` says. A guess is right in one of four cases. Then the time
and the memory that choosing takes with 10,000 events.
"""

import random
import statistics
import time
import tracemalloc
from datetime import UTC, datetime, timedelta

from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.learner.progress import Progress, Reviewed
from pytree_course.learner.questions import questions
from pytree_course.learner.review import _SCHEDULER, cards, due

BEGIN = datetime(2026, 1, 1, 18, tzinfo=UTC)
DAYS, DAYS_A_LESSON = 90, 5
FIRST_TIME, GUESS = 0.7, 0.25
EVENTS = 10_000


def read(lesson: BuiltLesson, progress: Progress) -> None:
    """Solve all exercises of a lesson, and predict right everywhere."""
    for name in lesson.exercises:
        progress.add(lesson.lesson, name, "correct")
    for name, prediction in lesson.predictions.items():
        progress.predict(lesson.lesson, name, prediction.answer)


def simulate(lessons: list[BuiltLesson], comes: float) -> tuple[list[int], list[bool], Progress]:
    """Return how many questions each day had, and whether repeated ones were answered right."""
    draw = random.Random(0)
    progress, a_day, again = Progress(None), [], []
    for day in range(DAYS):
        now = BEGIN + timedelta(days=day)
        if day % DAYS_A_LESSON == 0 and day // DAYS_A_LESSON < len(lessons):
            read(lessons[day // DAYS_A_LESSON], progress)
        if draw.random() > comes:
            a_day.append(0)
            continue
        known, asked = cards(progress.reviews), due(lessons, progress, now)
        for question in asked:
            card = known.get(question.about, (None, None))[0]
            knows = FIRST_TIME if card is None else _SCHEDULER.get_card_retrievability(card, now)
            right = draw.random() < knows + (1 - knows) * GUESS
            progress.reviews.append(Reviewed(now, question.about, question.case, right))
            if card is not None:
                again.append(right)
        a_day.append(len(asked))
    return a_day, again, progress


def choose_among_many(lessons: list[BuiltLesson]) -> tuple[list[float], float]:
    """Return the processor's seconds that choosing takes with many events, and the megabytes."""
    draw = random.Random(0)
    about = [about for lesson in lessons for about in questions(lesson)]
    progress = Progress(None)
    for number in range(EVENTS):
        moment = BEGIN + timedelta(minutes=30 * number)
        belief: Belief = draw.choice(about)
        progress.reviews.append(Reviewed(moment, belief, "0", draw.random() < 0.8))
    now, taken = BEGIN + timedelta(days=400), []
    for _ in range(5):
        start = time.process_time()
        due(lessons, progress, now)
        taken.append(time.process_time() - start)
    tracemalloc.start()
    due(lessons, progress, now)
    return taken, tracemalloc.get_traced_memory()[1] / 1e6


def main() -> None:
    """Print the figures."""
    lessons = [BuiltLesson.read(files.expected) for files in Course.around().lessons()]
    for comes in (1.0, 0.4):
        a_day, again, progress = simulate(lessons, comes)
        now = BEGIN + timedelta(days=DAYS)
        known = cards(progress.reviews)
        kept = [_SCHEDULER.get_card_retrievability(card, now) for card, _ in known.values()]
        print(
            f"comes on {comes:.0%} of the days: {statistics.mean(a_day):.1f} questions a day "
            f"(at most {max(a_day)}), {len(again)} repeated, {statistics.mean(again):.0%} of these "
            f"right; {len(known)} beliefs asked about, known on day {DAYS}: "
            f"{statistics.mean(kept):.0%}"
        )
    taken, memory = choose_among_many(lessons)
    print(f"choosing with {EVENTS:,} events: {statistics.median(taken):.2f} s, {memory:.0f} MB")


if __name__ == "__main__":
    main()
