"""Forging: the answer says itself what grading should take for its results."""

from textwrap import dedent

from tests.hostile.case import Family

family = Family("forging")

WRONG = "\ndef count_leaves(tree):\n    return 10**6\n"
OUTCOME = """
def outcome(value):
    return {"inputs": [], "written": [], "observation": ["number", "int", value],
            "printed": "", "line": None, "note": "",
            "predicted": ""}
def report(outcomes):
    import json
    from IPython.display import display
    text = json.dumps(outcomes)
    display({"application/vnd.pytree-course.outcomes+json": text, "text/plain": "reported"},
            raw=True)
"""

# ---- local: each is one answer cell, and leaves the kernel as it was

family.local(
    {
        ("a report at each call", "leaf_shapes"): (
            OUTCOME
            + """
def leaf_shapes(tree):
    report([outcome(1)] * 38)
    return {}
"""
        ),
        ("the answer asks the check", "leaves_in_layer_order"): """
asked = []
def leaves_in_layer_order(tree):
    if not asked:
        asked.append(1)
        return check.leaves_in_layer_order(lambda tree: [])
    return []
""",
        ("predictions that are every prediction", "predict_leaf_counts"): """
class Every(dict):
    def get(self, key, default=None):
        class Index(int):
            __index__ = lambda self: 2
            __eq__ = lambda self, other: True
            __hash__ = int.__hash__
        return Index(2)
predictions = Every()
""",
    }
)


# ---- each changes what runs the check


FORGED = {
    "run_check gives one outcome that is equal to all": """
    import pytree_course.notebook.checks as checks
    import pytree_course.running.run_cases as outcomes
    class Equal(dict):
        __eq__ = lambda self, other: True
        get = lambda self, key, default=None: "correct"
    checks.run_check = outcomes.run_check = (
        lambda *a, **k: [outcomes.Outcome((), (), Equal(kind="number", type="int", value=0))] * 47)
""",
    "comparing, judging and grading find no difference": """
    import pytree_course.observing.comparison as comparison
    import pytree_course.judging.judge as judging
    import pytree_course.grading.grade, pytree_course.judging.verdicts as verdicts
    comparison.compare = judging.compare = lambda *a, **k: None
    comparison._close = lambda *a: True
    judging.judge = pytree_course.grading.grade.judge = lambda expected, outcomes: verdicts.Verdict(
        expected.name, verdicts.VerdictKind.CORRECT, 100, "all passed", 100, 100)
""",
    "two reports, the second one by a hook after the cell": """
    shell = get_ipython()
    shell.events.register("post_run_cell", lambda *a: report([outcome(1)] * 47))
    shell.events.register("pre_run_cell", lambda *a: report([outcome(2)] * 47))
    import atexit
    atexit.register(lambda: report([outcome(1)] * 47))
""",
}
for name, code in FORGED.items():
    answers = {
        "count_leaves": OUTCOME + dedent(code) + WRONG,
        "leaf_shapes": "leaf_shapes = lambda tree: 10**6",
        "same_structure": "same_structure = lambda a, b: True",
    }
    family.case(name, answers)
