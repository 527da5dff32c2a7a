"""Which features of the vocabulary of inputs the cases of an exercise have."""

from collections.abc import Iterator

from pytree_course.cases.features import shown_by
from pytree_course.cases.vocabulary import VOCABULARY, named
from pytree_course.sources.authors_answers import SEEDS, draw_cases
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources
from pytree_course.sources.source_cells import Mistake

MARK = "✓"


def features_shown(sources: LessonSources, exercise: Exercise) -> dict[str, str]:
    """Say of each feature that the cases of all seeds have it, or why they have not, or nothing."""
    why = vars(sources.files.checks()[exercise.name])["without"]
    marks = {name: why[each] for each in why for name in named([each])}
    by_seed = []
    for seed in SEEDS:
        cases, _ = draw_cases(sources, exercise, seed)
        by_seed.append({name for case in cases for name in shown_by(case)})
    marks |= dict.fromkeys(set.intersection(*by_seed), MARK)
    return {name: marks.get(name, "") for group in VOCABULARY.values() for name in group}


def find_wrong_features(sources: LessonSources, exercise: Exercise) -> Iterator[Mistake]:
    """Find features that no case has, though the prompt may allow them, and wrong names of them."""
    try:
        marks = features_shown(sources, exercise)
    except ValueError as error:
        yield exercise.mistake(str(error))
        return
    why = vars(sources.files.checks()[exercise.name])["without"]
    if there := [name for name in why if marks.get(name) == MARK]:
        yield exercise.mistake(f"left out, though its cases have it: {', '.join(there)}")
    for group, names in VOCABULARY.items():
        if blank := [name for name in names if not marks[name]]:
            all_of_them = "all: " if len(blank) == len(names) else ""
            features = f"{group} ({all_of_them}{', '.join(blank)})"
            yield exercise.mistake(f"no case has, and `without` does not name: {features}")
