"""Grading: whatever became of the notebook, the score is what its answers deserve."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from pytree_course.authoring.building import build
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.checking.words import explanation
from pytree_course.grading.grade import grade_notebook
from pytree_course.grading.submission import UnreadableError, read_submission
from pytree_course.reports.tables import to_json, to_junit

RIGHT_COUNT = "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))"
RIGHT_FIRST = """\
def first_leaf(tree):
    for leaf in jax.tree.leaves(tree):
        return leaf
    raise ValueError("no leaves")
"""
SEED = 5


def kinds(grade):
    return {verdict.exercise: str(verdict.kind) for verdict in grade.verdicts}


def graded(mini, notebook, **options):
    return grade_notebook(notebook.save(), mini, seed=SEED, **options)


def test_the_notebook_as_handed_out_is_not_attempted(mini, notebook):
    grade = graded(mini, notebook)
    assert kinds(grade) == {"count_leaves": "not attempted", "first_leaf": "not attempted"}
    assert (grade.points, grade.all_points, grade.all_correct) == (0, 3, False)


def test_right_answers_earn_all_points_on_cases_never_seen(mini, notebook):
    notebook.answer("count_leaves", RIGHT_COUNT).answer("first_leaf", RIGHT_FIRST)
    first, second = (grade_notebook(notebook.save(), mini) for _ in range(2))
    assert first.all_correct
    assert second.all_correct
    assert len({first.seed, second.seed, PUBLIC_SEED}) == 3


def test_an_answer_that_only_knows_the_public_cases_fails(mini, notebook):
    public = json.loads(mini.expected.read_text(encoding="utf-8"))
    values = [each["value"] for each in public["exercises"]["count_leaves"]["observations"]]
    memorised = f"counts = iter({values})\ndef count_leaves(tree):\n    return next(counts)"
    grade = graded(mini, notebook.answer("count_leaves", memorised))
    assert kinds(grade)["count_leaves"] == "incorrect"


def test_a_misconception_is_explained(mini, notebook):
    wrong = "def count_leaves(tree):\n    return len(tree)"
    grade = graded(mini, notebook.answer("count_leaves", wrong))
    verdict = grade.verdicts[0]
    assert verdict.misconceptions[0].name == "elements"
    assert explanation(verdict, grade.notes) == "You counted the container's elements with `len`."


def test_reordered_doubled_edited_and_missing_other_cells_change_nothing(mini, notebook):
    notebook.answer("count_leaves", RIGHT_COUNT).answer("first_leaf", RIGHT_FIRST)
    notebook.cells.reverse()
    notebook.cell("count_leaves-check")["source"] = "raise SystemExit"
    notebook.cells.append({"cell_type": "code", "source": "exit()", "id": "mine"})
    notebook.cells.append(notebook.cell("count_leaves-check"))
    notebook.cells.remove(notebook.cell("setup"))
    notebook.cells.append(None)
    assert graded(mini, notebook).all_correct


def test_a_missing_answer_cell_is_not_attempted_and_said_to_be_missing(mini, notebook):
    notebook.answer("first_leaf", RIGHT_FIRST)
    notebook.cells.remove(notebook.cell("count_leaves-answer"))
    grade = graded(mini, notebook)
    assert kinds(grade) == {"count_leaves": "not attempted", "first_leaf": "correct"}
    assert "not in the notebook" in grade.verdicts[0].reason


def test_of_a_doubled_answer_cell_the_last_one_worked_in_counts(mini, notebook):
    starter = dict(notebook.cell("count_leaves-answer"))
    notebook.answer("count_leaves", "def count_leaves(tree): return 0")
    notebook.cells.append({**starter, "source": RIGHT_COUNT})
    notebook.cells.append(starter)
    grade = graded(mini, notebook)
    assert kinds(grade)["count_leaves"] == "correct"
    assert "3 times" in explanation(grade.verdicts[0], grade.notes)


@pytest.mark.parametrize(
    ("code", "verdict", "reason"),
    [
        ("def count_leaves(tree) return 1", "error", "SyntaxError"),
        ("1 / 0", "error", "ZeroDivisionError"),
        ("", "error", "NameError"),
        ("def count_leaves(tree):\n    return helper(tree)", "error", "NameError"),
        ("def count_leaves(tree):\n    import os; os._exit(0)", "crashed", "ended the Python"),
        ("import os, signal; os.kill(os.getpid(), 9)", "crashed", "ended the Python"),
        ("def count_leaves(tree):\n    while True: pass", "timed out", "loop"),
        (
            "def count_leaves(tree):\n    while True:\n        try:\n            while True: pass\n"
            "        except BaseException: pass",
            "timed out",
            "loop",
        ),
        ("count_leaves = None", "error", "TypeError"),
        ("def count_leaves(tree): return [count_leaves] * 10**6", "incorrect", "too large"),
        ("def count_leaves(tree): return lambda: 1", "incorrect", "a function"),
        ("def count_leaves(tree):\n    %nonsense", "error", "UsageError"),
    ],
)
def test_a_broken_answer_costs_its_own_exercise_only(mini, notebook, code, verdict, reason):
    notebook.answer("count_leaves", code).answer("first_leaf", RIGHT_FIRST)
    grade = graded(mini, notebook, cell_timeout=3)
    assert kinds(grade) == {"count_leaves": verdict, "first_leaf": "correct"}
    assert reason in grade.verdicts[0].reason


def test_an_answer_that_leaves_python_costs_its_own_exercise_only(mini, notebook):
    grade = graded(
        mini, notebook.answer("count_leaves", "exit()").answer("first_leaf", RIGHT_FIRST)
    )
    # The kernel ends soon after the cell: before the check's turn, or just after it.
    assert kinds(grade)["count_leaves"] in ("crashed", "error")
    assert kinds(grade)["first_leaf"] == "correct"


def test_a_name_from_another_cell_is_explained(mini, notebook):
    notebook.answer("count_leaves", "def count_leaves(tree):\n    return helper(tree)")
    grade = graded(mini, notebook)
    assert "Only answer cells are graded" in explanation(grade.verdicts[0], grade.notes)


FORGERIES = {
    "patched comparison": (
        "import pytree_course.checking.comparison as c\nc.compare = lambda *_: None\n"
    ),
    "patched observing": (
        "import pytree_course.checking.outcomes as r\n"
        "r.observe = lambda value: {'kind': 'number', 'type': 'int', 'value': 0}\n"
    ),
    "patched traceback": "get_ipython().showtraceback = lambda *a, **k: None\n",
    "always equal": "class Yes(int):\n    __eq__ = lambda *_: True\n",
    "forged report": (
        "from IPython.display import display\n"
        "display({'application/vnd.pytree-course.outcomes+json': []}, raw=True)\n"
    ),
    "no more checks": "from pytree_course import Checks\nChecks.__getattr__ = lambda *_: print\n",
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_forging_earns_nothing(mini, notebook, forgery):
    notebook.answer("count_leaves", forgery + "def count_leaves(tree): return 10**6")
    grade = graded(mini, notebook)
    assert grade.verdicts[0].points == 0


def test_a_right_answer_that_warns_and_prints_is_right(mini, notebook):
    code = (
        "import warnings\ndef count_leaves(tree):\n    warnings.warn('hm')\n"
        "    print('x' * 10**5)\n    return len(jax.tree.leaves(tree))"
    )
    assert kinds(graded(mini, notebook.answer("count_leaves", code)))["count_leaves"] == "correct"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"{", "not a notebook"),
        (b"[]", "no cells"),
        (b'{"worksheets": []}', "no cells"),
        (b"\xff\xfe" * 100, "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(tmp_path, content, why):
    file = tmp_path / "submission.ipynb"
    file.write_bytes(content)
    with pytest.raises(UnreadableError, match=why):
        read_submission(file, {"count_leaves": ""})


def test_a_file_that_is_not_there_is_said_not_to_be(tmp_path):
    with pytest.raises(UnreadableError, match="does not exist"):
        read_submission(tmp_path / "none.ipynb", {})


def test_a_learners_copy_without_sources_is_graded_on_the_public_cases(mini, notebook):
    for folder in (mini.sources, mini.solutions.parent):
        folder.rename(mini.root.parent / folder.name)
    notebook.answer("count_leaves", RIGHT_COUNT).answer("first_leaf", "first_leaf = print")
    grade = grade_notebook(notebook.save(), mini)
    assert grade.seed == PUBLIC_SEED
    assert kinds(grade) == {"count_leaves": "correct", "first_leaf": "incorrect"}


def test_every_variant_passes_and_every_misconception_is_recognised(mini, notebook):
    from pytree_course.authoring.sources import read_sources

    for exercise in read_sources(mini).exercises.values():
        for variant in exercise.variants:
            notebook.answer(exercise.name, variant.source)
            assert kinds(graded(mini, notebook))[exercise.name] == "correct"
        for wrong in exercise.misconceptions:
            notebook.answer(exercise.name, wrong.source)
            grade = graded(mini, notebook)
            verdict = next(each for each in grade.verdicts if each.exercise == exercise.name)
            assert verdict.kind in (VerdictKind.INCORRECT, VerdictKind.ERROR)
            assert [held.name for held in verdict.misconceptions] == [wrong.name]


def test_reports_say_the_same_as_the_grade(mini, notebook):
    notebook.answer("count_leaves", RIGHT_COUNT)
    notebook.answer("first_leaf", "def first_leaf(tree): return '\\x00<&>'")
    grade = graded(mini, notebook)
    data = json.loads(to_json(grade))
    assert [row["verdict"] for row in data["exercises"]] == ["correct", "incorrect"]
    assert (data["points"], data["all_points"], data["all_correct"]) == (1, 3, False)
    suite = ElementTree.fromstring(to_junit(grade))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    assert suite.find("testcase[@name='first_leaf']/failure") is not None


def run_check_script(mini, *arguments):
    command = [sys.executable, str(mini.check_script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_check_script_runs_on_its_own(mini, notebook, tmp_path):
    done = run_check_script(mini, notebook.answer("count_leaves", RIGHT_COUNT).save())
    assert done.returncode == 1
    assert "1 of 3 points" in done.stdout
    notebook.answer("first_leaf", RIGHT_FIRST)
    junit = tmp_path / "grade.xml"
    done = run_check_script(mini, notebook.save(), "--json", "--junit", junit)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["all_correct"]
    assert ElementTree.parse(junit).getroot().get("failures") == "0"


def test_the_check_script_refuses_what_is_no_notebook(mini):
    done = run_check_script(mini, mini.check_script)
    assert done.returncode == 2
    assert "not a notebook" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lesson_may_be_built_and_graded_in_one_process(mini, notebook):
    notebook.answer("count_leaves", RIGHT_COUNT)
    build(mini)
    assert not graded(mini, notebook).all_correct
