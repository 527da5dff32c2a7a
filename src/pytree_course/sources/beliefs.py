"""Run misconceptions on demand: each only until a learner's results rule it out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytree_course import compiled
from pytree_course.judging import matching
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.observing.comparison import compare, with_skeleton
from pytree_course.observing.observations import Observation
from pytree_course.running.replayed_draws import Draws
from pytree_course.running.run_cases import DrawnCases
from pytree_course.sources.authors_answers import SEEDS, as_graded, define
from pytree_course.sources.exercises import Answer
from pytree_course.sources.lesson_sources import LessonSources


class Beliefs:
    """The misconceptions of an exercise on the cases of one seed; each case runs at most once.

    Examples
    --------
    >>> beliefs = Beliefs(sources, expected, seed=7)  # doctest: +SKIP
    >>> [belief.name for belief in beliefs.held(observed)]  # doctest: +SKIP
    ['counts_none']
    """

    def __init__(self, sources: LessonSources, expected: ExpectedExercise, seed: int) -> None:
        self._sources, self._expected, self._seed = sources, expected, seed
        self._exercise = sources.exercises[expected.name]
        self._check: Any = sources.files.checks()[expected.name]
        self._draws = Draws(seed)
        self._results: dict[str, dict[int, Observation | None]] = defaultdict(dict)
        """By misconception and case, of the cases that have run; None for the right result."""

    def held(self, observed: Sequence[Observation]) -> list[Misconception]:
        """Return the misconceptions that explain some wrong results and contradict none.

        They yield what the learner's answer yields wherever they differ from the right answer.
        Each is run on the cases that the learner failed first, and no further than to a result
        that rules it out. Of an exercise with predicted lines, all are returned: each line has a
        reason of its own.
        """
        compiled.use_compiled_programs(keep=self._seed in SEEDS)
        right = self._expected.observations
        failed = [case for case, result in enumerate(observed) if compare(right[case], result)]
        passed = sorted(set(range(len(right))).difference(failed))
        all_raise = matching.every_case_raises(observed)
        needs_all = bool(self._expected.lines)

        def is_ruled_out(answer: Answer, cases: Iterable[int]) -> bool:
            return any(
                not needs_all and matching.contradicts(wrong, observed[case], all_raise)
                for case, wrong in self._run(answer, cases)
                if wrong is not None
            )

        held = []
        with as_graded(self._sources, self._seed):
            for answer in self._exercise.misconceptions:
                results = self._results[answer.name]
                if is_ruled_out(answer, [*results, *failed]):
                    continue
                # One that is right wherever the learner failed explains nothing.
                explains = needs_all or any(wrong is not None for wrong in results.values())
                if not explains or is_ruled_out(answer, passed):
                    continue
                in_order = sorted(results.items())
                differing = {case: wrong for case, wrong in in_order if wrong is not None}
                if differing:
                    held.append(
                        Misconception(answer.name, answer.explanation, answer.section, differing)
                    )
        return held

    def _run(
        self, answer: Answer, cases: Iterable[int]
    ) -> Iterator[tuple[int, Observation | None]]:
        """Yield the results of a misconception in these cases, running those that have not run."""
        results = self._results[answer.name]
        drawn: DrawnCases | None = None
        for case in cases:
            if case not in results:
                if drawn is None:
                    in_order = self._check.in_order or "in_order" in answer.cell.metadata
                    # Cases that depend on others may draw while they run.
                    draws = Draws(self._seed) if in_order else self._draws
                    answers = define(self._exercise, answer)
                    drawn = DrawnCases(self._check, answers, draws, in_order=in_order)
                for number, result in drawn.results(case):
                    differs = compare(self._expected.observations[number], result)
                    results[number] = with_skeleton(result) if differs else None
            yield case, results[case]
