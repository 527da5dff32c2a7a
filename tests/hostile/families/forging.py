"""Forging: the answer says itself what grading should take for its results."""

from textwrap import dedent

from tests.hostile.case import Family

family = Family("forging")

WRONG = "\ndef count_leaves(tree):\n    return 10**6\n"
OUTCOME = """
def outcome(value):
    return {"inputs": [], "written": [], "observation": {"kind": "number", "type": "int",
            "value": value}, "printed": "", "line": None, "note": "",
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
        ("a report by a thread, and later", "nan_paths"): (
            OUTCOME
            + """
import threading
def late():
    for n in range(60):
        report([outcome(n)] * n)
thread = threading.Timer(0.05, late)
thread.start()
def nan_paths(params):
    thread.join()
    return None
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
        ("another MIME type", "count_leaves"): (
            """
from IPython.display import display
display({"application/json": {"points": 1}, "text/html": "<b>✓ correct</b>"}, raw=True)
display({"application/vnd.pytree-course.verdict+json": {"kind": "correct"}}, raw=True)
"""
            + WRONG
        ),
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
    checks.run_check = outcomes.run_check = outcomes.outcomes_of = (
        lambda *a, **k: [outcomes.Outcome((), (), Equal(kind="number", type="int", value=0))] * 47)
""",
    "observing sees what is expected": """
    import pytree_course.running.run_cases as outcomes, pytree_course.observing.observe as trees
    for module in (outcomes, trees):
        module.observe = lambda value, **k: trees.Number("int", len(jax.tree.leaves(value)))
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
    "display publishes what a forger wants": """
    shell = get_ipython()
    publish = shell.display_pub.publish
    def forged(data, *a, **k):
        for kind in list(data):
            if "outcomes" in kind:
                data[kind] = [outcome(n % 3) for n in range(len(data[kind]))]
        return publish(data, *a, **k)
    shell.display_pub.publish = forged
    import pytree_course.notebook.checks as checks, IPython.display
    checks.display = IPython.display.display = lambda each, **k: forged(each)
""",
    "two reports, the second one by a hook after the cell": """
    shell = get_ipython()
    shell.events.register("post_run_cell", lambda *a: report([outcome(1)] * 47))
    shell.events.register("pre_run_cell", lambda *a: report([outcome(2)] * 47))
    import atexit
    atexit.register(lambda: report([outcome(1)] * 47))
""",
    "the check's class gives every exercise the check of another": """
    from pytree_course.notebook.checks import Checks, ExerciseCheck
    find = Checks.__getattr__
    Checks.__getattr__ = lambda self, name: find(self, "predict_leaf_counts")
    call = ExerciseCheck.__call__
    def called(self, *answers):
        self._exercise.__dict__["answers"] = ["x"] * len(answers)
        return call(self, {letter: 2 for letter in "ABCDEFGH"})
    ExerciseCheck.__call__ = called
""",
    "nbval's own markers": """
    print("PYTEST_CURRENT_TEST PASSED [100%]")
    display({"text/plain": "1 passed"}, raw=True)
    get_ipython().user_ns["__nbval__"] = "PASS"
    import sys
    print("\\x1b[32m1 passed\\x1b[0m", file=sys.stderr)
""",
}
for name, code in FORGED.items():
    answers = {
        "count_leaves": OUTCOME + dedent(code) + WRONG,
        "count_nones": "count_nones = lambda tree: 10**6",
        "same_structure": "same_structure = lambda a, b: True",
    }
    family.case(name, answers)
