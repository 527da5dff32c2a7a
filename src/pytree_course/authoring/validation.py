"""Validate a lesson's sources and answers, before the build writes anything."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise

from pytree_course.course import GOING_DEEPER
from pytree_course.judging.matching import is_told_apart
from pytree_course.notebook.checks import Checks
from pytree_course.observing.comparison import agree, compare
from pytree_course.observing.observations import NotAttempted, Unbounded
from pytree_course.public_reports import CITATION, malformed_reports, split_reports
from pytree_course.sources.authors_answers import SEEDS, AnswerError, results_of
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import Layers, LessonSources
from pytree_course.sources.source_cells import Mistake, SourceCell

MAX_READING_MINUTES, MAX_CORE_MINUTES = 20, 45
"""For a lesson's core: to read it, and to do everything that it asks for as well."""
MINIMA = {"hints": 2, "misconceptions": 3, "variants": 2}
"""How many of these an exercise needs."""
EXPLANATION = re.compile(r"\*\*(Silent bug|The fix)")
"""Beginnings of text that explains a prediction's answer, and so belongs into its fold."""


def find_mistakes_in_text(sources: LessonSources) -> list[Mistake]:
    """Return the mistakes that can be found without running anything."""
    mistakes = [*_check_layers(sources.layers), *_check_folds(sources.all_cells)]
    for cell in sources.all_cells:
        for citation in CITATION.finditer(cell.source):
            mistakes += map(cell.mistake, malformed_reports(split_reports(citation["reports"])))
    for name, exercise in sources.exercises.items():
        mistakes += _check_text(sources, exercise)
        if name not in sources.checks:
            script = sources.files.check_script.name
            message = f"the exercise {name!r} has no check: write one in {script}"
            mistakes.append(exercise.cell.mistake(message))
    return mistakes


def find_mistakes_in_answers(sources: LessonSources) -> list[Mistake]:
    """Return the mistakes that are found by running the answers."""
    mistakes: dict[Mistake, None] = {}  # most of them occur with each seed
    for exercise in sources.exercises.values():
        for seed in SEEDS:
            mistakes |= dict.fromkeys(_check_answers(sources, exercise, seed))
    return [*mistakes]


def _check_layers(layers: Layers) -> Iterator[Mistake]:
    """Find mistakes in a lesson's layers; a lesson without "Going deeper" has none."""
    if not layers.ending:
        return
    title = layers.opening[0]
    if layers.core_minutes > MAX_READING_MINUTES:
        yield title.mistake(
            f"the core takes {layers.core_minutes} minutes to read: "
            f"{MAX_READING_MINUTES} are the most"
        )
    if layers.core_with_everything > MAX_CORE_MINUTES:
        yield title.mistake(
            f"the core takes {layers.core_with_everything} minutes with everything that it asks "
            f"the reader to do: {MAX_CORE_MINUTES} are the most"
        )
    ending = "\n".join(cell.source for cell in layers.ending)
    for section in layers.deeper:
        first = section.cells[0]
        if not section.for_whom:
            yield first.mistake('say for whom it is: `+++ {"for": "you …"}` above its title')
        if first.file.stem != section.slug:
            yield first.mistake(f"name its file as its title says: {section.slug}.md")
        if section.link_end not in ending:
            yield first.mistake(f'link to it below "# {GOING_DEEPER}" in lesson.md')


def _check_folds(cells: Sequence[SourceCell]) -> Iterator[Mistake]:
    """Find explanations below the fold of a prediction's answer, which they would give away."""
    is_below_fold = False
    for above, cell in pairwise(cells):
        if cell.kind != "markdown" or cell.heading:
            is_below_fold = False
        elif is_below_fold and EXPLANATION.search(cell.source):
            yield cell.mistake("fold it with the answer: leave out the +++ above it")
        elif "prediction" in above.metadata:
            is_below_fold = True


def _check_text(sources: LessonSources, exercise: Exercise) -> Iterator[Mistake]:
    """Find mistakes in an exercise without running anything."""
    if hasattr(Checks, exercise.name) or exercise.name in Checks.__annotations__:
        yield exercise.mistake(f"`check.{exercise.name}` is taken: give it another name")
    for kind, minimum in MINIMA.items():
        number = len(getattr(exercise, kind))
        if number < minimum:
            yield exercise.mistake(f"it has {number} {kind}; write {minimum} or more")
    for message in malformed_reports(exercise.met):
        yield exercise.mistake(message)
    if exercise.section not in sources.sections:
        yield exercise.mistake(f"the lesson has no section {exercise.section!r}")
    for wrong in exercise.misconceptions:
        if wrong.section not in sources.sections:
            yield exercise.mistake(f"the lesson has no section {wrong.section!r}", wrong)
        for message in malformed_reports(wrong.met):
            yield exercise.mistake(message, wrong)
    counts = Counter(answer.name for answer in exercise.all_answers)
    for answer in exercise.all_answers:
        if counts[answer.name] > 1:
            yield exercise.mistake(f"there are two answers named {answer.name!r}", answer)


def _check_answers(sources: LessonSources, exercise: Exercise, seed: int) -> Iterator[Mistake]:
    """Find answers with the wrong verdict, and pairs that no case distinguishes."""
    results = partial(results_of, sources, exercise, seed=seed)
    for answer in exercise.all_answers:
        try:
            results(answer)
        except AnswerError as error:
            yield exercise.mistake(f"{answer.name!r} does not run: {error}", answer)
            return
    right = results(exercise.solution)
    for observation in right:
        if isinstance(observation, Unbounded | NotAttempted):
            yield exercise.mistake(f"the solution yields {observation}")
    if agree(right, results(exercise.starter)):
        yield exercise.mistake("the starter passes the check", exercise.starter)
    for variant in exercise.variants:
        if not agree(right, results(variant)):
            yield exercise.mistake(f"the variant {variant.name!r} fails the check", variant)
    for wrong in exercise.misconceptions:
        differing_cases = sum(map(bool, map(compare, right, results(wrong))))
        if agree(right, results(wrong)):
            message = f"no case tells the misconception {wrong.name!r} from the right answer"
            yield exercise.mistake(message, wrong)
        elif differing_cases == 1 and not exercise.is_prediction:
            message = f"only one case tells {wrong.name!r} from the right answer"
            yield exercise.mistake(message, wrong)
    for wrong, other in combinations(exercise.misconceptions, 2):
        if not is_told_apart(results(wrong), results(other)):
            message = f"no case tells {wrong.name!r} and {other.name!r} apart"
            yield exercise.mistake(message, other)
