"""The last hint of a core exercise is its solution, with `...` for what decides."""

import pytest

from pytree_course.authoring.skeletons import is_skeleton

SOLUTION = '''\
def step(params, grads):
    """Return new parameters."""
    rate = 0.1  # small
    moved = jax.tree.map(lambda p, g: p - rate * g, params, grads)
    return moved
'''


def hint(code: str) -> str:
    return f"```python\ndef step(params, grads):\n{code}\n```\n"


@pytest.mark.parametrize(
    "code",
    [
        "    ...",
        "    rate = 0.1\n    moved = jax.tree.map(lambda p, g: ..., params, grads)\n    ...",
        "    rate = ...\n    moved = jax.tree.map(..., params, grads)\n    return moved",
        "    ...\n    return moved",
        '    """New."""\n    rate = 0.1\n    ...',
    ],
)
def test_a_skeleton_is_the_solution_without_what_decides(code):
    assert is_skeleton(hint(code), SOLUTION)


@pytest.mark.parametrize(
    "text",
    [
        "Use `jax.tree.map(...)`.",
        hint("    rate = 0.1\n    return jax.tree.map(lambda p, g: ..., params, grads)"),
        hint("    rate = ...\n    moved = jax.tree.map(..., params)\n    return moved"),
        hint("    rate = 0.2\n    ..."),
        hint("    rate = ...\n    return moved"),
        hint("    ...\n    return moved\n    return rate"),
        hint("    return (..."),
        f"```python\n{SOLUTION}```",
        f"```python\n{SOLUTION}\n...\n```",
    ],
)
def test_anything_else_is_none(text):
    assert not is_skeleton(text, SOLUTION)
