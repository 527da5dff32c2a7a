"""Checks of a small lesson that the tests build."""

from pytree_course.cases import Case, as_int, check, random_tree


@check
def count_leaves(answer, rng):
    yield Case(as_int(answer), {})
    yield Case(as_int(answer), [None])
    yield Case(as_int(answer), [1, [[2], 3], None, (), ()])
    for _ in range(3):
        yield Case(as_int(answer), random_tree(rng))


@check
def first_leaf(answer, rng):
    yield Case(answer, {}, mentions=("no leaves",))
    yield Case(answer, [3.5, (1, 2)])
    yield Case(answer, [None, ()], mentions=("no leaves",))
    for _ in range(2):
        first, last = rng.choice(100, size=2, replace=False).tolist()
        yield Case(answer, {"a": [None, first], "b": last})


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
