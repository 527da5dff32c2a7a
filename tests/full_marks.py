"""Check the solutions of all lessons with the Python that runs this, on a device that rounds."""

import sys

import jax
import jax.numpy as jnp
from jax.extend.core.primitives import dot_general_p

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.authors_answers import run_answer
from pytree_course.sources.lesson_sources import read_sources
from tests.environments import ROOT

HIGHEST = (jax.lax.Precision.HIGHEST,) * 2


def round_products() -> None:
    """Let JAX multiply as a TPU does: 8 bits of each float32, unless more are asked for."""
    bind_exactly = dot_general_p.bind

    def bind(left, right, *, precision, **parameters):
        if precision != HIGHEST and left.dtype == right.dtype == jnp.float32:
            left, right = (
                jax.lax.reduce_precision(left, 8, 7),
                jax.lax.reduce_precision(right, 8, 7),
            )
        return bind_exactly(left, right, precision=precision, **parameters)

    dot_general_p.bind = bind
    assert jnp.full(1, 1.001) @ jnp.ones(1) == 1


def not_correct() -> list[str]:
    """Return a line about each exercise, practice too, whose solution has not full marks."""
    said = []
    for files in Course(ROOT).lessons():
        sources, built = read_sources(files), BuiltLesson.read(files.expected)
        for name, exercise in sources.exercises.items():
            outcomes = run_answer(sources, exercise, exercise.solution, PUBLIC_SEED)
            verdict = judge(built.expected(name), outcomes)
            if verdict.kind is not VerdictKind.CORRECT:
                said.append(f"{files.stem}, {name}: {verdict.reason}")
    return said


if __name__ == "__main__":
    round_products()
    sys.exit("\n".join(not_correct()) or None)
