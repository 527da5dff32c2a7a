"""Forging: the answer says itself what grading should take for its results."""

from tests.hostile.case import Family

family = Family("forging")

family.local(
    "an empty report in the answer cell",
    "count_leaves",
    """
    from IPython.display import display
    display({"application/vnd.pytree-course.outcomes+json": []}, raw=True)
    def count_leaves(tree):
        return 10**6
    """,
)
family.case(
    "traceback switched off",
    {
        "count_leaves": """
    get_ipython().showtraceback = lambda *a, **k: None
    get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
    def count_leaves(tree):
        return 10**6
"""
    },
)
