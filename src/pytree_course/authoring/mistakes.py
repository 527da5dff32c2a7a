"""Find the author's mistakes before a learner does."""

from collections.abc import Iterator
from itertools import combinations

from pytree_course.authoring.authors_answers import AnswerError, run_answer
from pytree_course.authoring.sources import Answer, Exercise, LessonSources, Mistake
from pytree_course.authoring.traceability import find_wrong_marks, read_topics
from pytree_course.checking.comparison import compare
from pytree_course.checking.outcomes import PUBLIC_SEED, Outcome

SEEDS = (PUBLIC_SEED, 11, 22, 33)
"""Every rule about cases has to hold on fresh cases too: these stand for them."""

FEWEST = {"hints": 2, "misconceptions": 3, "variants": 2}


def find_mistakes(sources: LessonSources) -> list[Mistake]:
    """Return everything in a lesson's sources that the author has to fix."""
    checks = sources.files.checks()
    mistakes = find_wrong_marks(sources, read_topics(sources.files.root))
    for name in checks.keys() - sources.exercises.keys():
        line = checks[name].__code__.co_firstlineno
        message = f"the check {name!r} has no exercise in exercises.md"
        mistakes.append(Mistake(sources.files.check_script, line, message))
    for name, exercise in sources.exercises.items():
        mistakes += _in_text(sources, exercise)
        if name in checks:
            mistakes += _in_answers(sources, exercise)
        else:
            script = sources.files.check_script.name
            message = f"the exercise {name!r} has no check: write one in {script}"
            mistakes.append(exercise.cell.mistake(message))
    return list(dict.fromkeys(mistakes))  # a mistake may show on several seeds


def _in_text(sources: LessonSources, exercise: Exercise) -> Iterator[Mistake]:
    """Find what is wrong without running anything."""

    def mistake(message: str, at: Answer | None = None) -> Mistake:
        return (at or exercise).cell.mistake(f"{exercise.name}: {message}")

    for number, hint in enumerate(exercise.hints, 1):
        if not hint:
            yield mistake(f"hint {number} is empty")
    for what, fewest in FEWEST.items():
        there_are = len(getattr(exercise, what))
        if there_are < fewest:
            yield mistake(f"it has {there_are} {what}; write {fewest} or more")
    if exercise.section not in sources.sections:
        yield mistake(f"the lesson has no section {exercise.section!r}")
    for wrong in exercise.misconceptions:
        if wrong.section not in sources.sections:
            yield mistake(f"the lesson has no section {wrong.section!r}", wrong)
    for answers in (exercise.variants, exercise.misconceptions):
        names = [answer.name for answer in answers]
        for answer in answers:
            if names.count(answer.name) > 1:
                yield mistake(f"there are two answers named {answer.name!r}", answer)


def _in_answers(sources: LessonSources, exercise: Exercise) -> Iterator[Mistake]:
    """Find what is wrong with the answers, or with cases that do not tell them apart."""
    solution, starter = exercise.solution, exercise.starter

    def mistake(answer: Answer, message: str) -> Mistake:
        return answer.cell.mistake(f"{exercise.name}: {message}")

    for seed in SEEDS:
        outcomes: dict[int, list[Outcome]] = {}
        for answer in (solution, starter, *exercise.variants, *exercise.misconceptions):
            try:
                outcomes[id(answer)] = run_answer(sources, exercise, answer, seed).outcomes
            except AnswerError as error:
                yield mistake(answer, f"{answer.name!r} does not run: {error}")
                return
        right = outcomes[id(solution)]
        if not right:
            yield mistake(solution, "its check has no cases")
            return
        for outcome in right:
            if outcome.observation["kind"] in ("unbounded", "not attempted"):
                yield mistake(solution, f"the solution yields {outcome.observation}")
        if _same(right, outcomes[id(starter)]):
            yield mistake(starter, "the starter passes the check")
        for variant in exercise.variants:
            if not _same(right, outcomes[id(variant)]):
                yield mistake(variant, f"the variant {variant.name!r} fails the check")
        for wrong in exercise.misconceptions:
            if _same(right, outcomes[id(wrong)]):
                message = f"no case tells the misconception {wrong.name!r} from the right answer"
                yield mistake(wrong, message)
        for wrong, other in combinations(exercise.misconceptions, 2):
            if _same(outcomes[id(wrong)], outcomes[id(other)]):
                yield mistake(other, f"no case tells {wrong.name!r} and {other.name!r} apart")


def _same(outcomes: list[Outcome], others: list[Outcome]) -> bool:
    return len(outcomes) == len(others) and not any(
        compare(outcome.observation, other.observation)
        for outcome, other in zip(outcomes, others, strict=True)
    )
