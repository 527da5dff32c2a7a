"""Run misconceptions on demand: each only until a learner's results rule it out."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytree_course import compiled
from pytree_course.judging import matching
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.observing.comparison import compare, with_skeleton
from pytree_course.observing.observations import Observation
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
        self._beliefs = [
            _Belief(answer, self._start, expected.observations)
            for answer in self._exercise.misconceptions
        ]

    @property
    def cases_run(self) -> int:
        """How many cases have run, of all misconceptions together."""
        return sum(len(belief.results) for belief in self._beliefs)

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

        def contradicts(case: int, wrong: Observation) -> bool:
            return not needs_all and matching.contradicts(wrong, observed[case], all_raise)

        with as_graded(self._sources, self._seed):
            held = [
                belief
                for belief in self._beliefs
                if not belief.is_ruled_out([*belief.results, *failed], contradicts)
                # One that is right wherever the learner failed explains nothing.
                if belief.differing or needs_all
                if not belief.is_ruled_out(passed, contradicts)
            ]
        return [
            Misconception(each.answer.name, each.answer.explanation, each.answer.section, differing)
            for each in held
            if (differing := each.differing)
        ]

    def _start(self, answer: Answer) -> "DrawnCases":
        answers = define(self._exercise, answer)
        in_order = "in_order" in answer.cell.metadata
        return DrawnCases(self._check, answers, self._seed, in_order=in_order)


class _Belief:
    """A misconception, and its results so far."""

    def __init__(
        self,
        answer: Answer,
        start: Callable[[Answer], DrawnCases],
        right: Sequence[Observation],
    ) -> None:
        self.answer = answer
        self.results: dict[int, Observation | None] = {}
        """By case; None for the right result."""
        self._start, self._right = start, right

    @property
    def differing(self) -> dict[int, Observation]:
        """The results that differ from the right answer's, in the order of the cases."""
        results = sorted(self.results.items())
        return {case: wrong for case, wrong in results if wrong is not None}

    def is_ruled_out(
        self, cases: Iterable[int], contradicts: Callable[[int, Observation], bool]
    ) -> bool:
        """Return whether a result contradicts the learner's in one of these cases.

        What has not run yet is run as far as that takes.
        """
        drawn: DrawnCases | None = None
        for case in cases:
            if case not in self.results:
                drawn = drawn or self._start(self.answer)
                for number, result in drawn.results(case):
                    differs = compare(self._right[number], result)
                    self.results[number] = with_skeleton(result) if differs else None
            wrong = self.results[case]
            if wrong is not None and contradicts(case, wrong):
                return True
        return False
