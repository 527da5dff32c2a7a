"""How an answer ran decides what it is worth, and whether it runs again: without a kernel."""

import sys
from dataclasses import replace

import pytest

from pytree_course.course import Course
from pytree_course.grading import exercise_run
from pytree_course.grading.cell_run import CellEnd, CellRun
from pytree_course.grading.exercise_run import ExerciseRun, _Plan, again_ids, run_answers
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson_to_grade import RunSettings, find_right_results, read_lesson
from pytree_course.grading.submission import Submission
from pytree_course.judging import words
from pytree_course.observing.observe import observe, observe_raised
from pytree_course.running.outcomes import OUTCOMES_MIME, Outcome, report

FULL, FORKED = OSError(28, "No space left"), RuntimeError("can't start new thread")


def outcomes(*results):
    seen = [observe_raised(it) if isinstance(it, Exception) else observe(it) for it in results]
    return [Outcome((), (), result) for result in seen]


def cell(end=CellEnd.FINISHED, error=None, results=None, **more):
    error = error and (type(error).__name__, str(error))
    return CellRun(end, error, None if results is None else outcomes(*results), **more)


FINISHED, REPORTED = CellRun(), cell(results=[1])


@pytest.mark.parametrize(
    ("answer", "check", "is_settled", "is_doubtful", "is_fit"),
    [
        (FINISHED, REPORTED, True, False, True),
        (FINISHED, cell(error=KeyError(1)), True, False, True),
        (FINISHED, cell(has_long_message=True), True, False, True),
        (FINISHED, FINISHED, False, True, True),
        (cell(CellEnd.TIMED_OUT), FINISHED, True, False, False),
        (cell(CellEnd.WAITED), FINISHED, True, True, False),
        (FINISHED, cell(CellEnd.NO_TIME_LEFT), True, False, False),
        (FINISHED, cell(CellEnd.FLOODED), True, False, False),
        (FINISHED, cell(CellEnd.OVER_MEMORY), False, False, False),
        (FINISHED, cell(CellEnd.OVER_PROCESSES), False, False, False),
        (FINISHED, cell(CellEnd.KERNEL_ENDED), False, True, False),
        (cell(error=FULL), REPORTED, False, True, True),
        (FINISHED, cell(results=[FORKED]), False, True, True),
        (cell(error=MemoryError()), REPORTED, True, True, False),
        (FINISHED, cell(results=[1, MemoryError()]), True, True, False),
    ],
)
def test_what_caused_a_result_is_known_or_doubted(answer, check, is_settled, is_doubtful, is_fit):
    run = ExerciseRun(answer, check)
    assert (run.is_settled, run.is_doubtful, run.is_fit) == (is_settled, is_doubtful, is_fit)


def test_a_check_reports_once():
    data = {OUTCOMES_MIME: report(outcomes(1))}
    run = CellRun()
    run.record_message("display_data", {"data": {"text/plain": "1"}})
    assert (run.reports, run.outcomes) == (0, None)
    run.record_message("display_data", {"data": data})
    assert (run.reports, run.outcomes) == (1, outcomes(1))
    run.record_message("execute_result", {"data": data})
    assert (run.reports, run.outcomes) == (2, None)
    run.record_message("error", {"ename": "A" * 999, "evalue": "\x1b[31mred\0" + "x" * 9_999})
    assert [len(text) for text in run.error] == [200, 2_000]
    assert run.error[1].startswith(r"red\x00")
    forged = CellRun()
    forged.record_message("display_data", {"data": {OUTCOMES_MIME: "[{}]"}})
    assert (forged.reports, forged.outcomes) == (1, None)


@pytest.fixture
def lesson(built_course):
    lesson = read_lesson(Course(built_course).lesson("01_mini"), 5)
    return replace(lesson, on_public_cases=True)  # nothing has to be run


ENDS = [
    (cell(CellEnd.TIMED_OUT), FINISHED, "timed out", words.TIMED_OUT),
    (cell(CellEnd.WAITED), FINISHED, "timed out", words.WAITED),
    (cell(CellEnd.NO_TIME_LEFT), FINISHED, "timed out", words.NO_TIME_LEFT),
    (FINISHED, cell(CellEnd.OVER_MEMORY), "crashed", words.OVER_MEMORY),
    (FINISHED, cell(CellEnd.OVER_PROCESSES), "crashed", words.OVER_PROCESSES),
    (FINISHED, cell(CellEnd.KERNEL_ENDED), "crashed", words.KERNEL_DIED),
    (FINISHED, cell(CellEnd.FLOODED), "crashed", words.TOO_MUCH_OUTPUT),
    (FINISHED, cell(has_long_message=True), "crashed", words.TOO_MUCH_OUTPUT),
    (FINISHED, cell(CellEnd.FLOODED, reports=2), "error", words.SEVERAL_REPORTS),
    (FINISHED, cell(has_long_message=True, reports=1), "error", words.NO_REPORT),
    (FINISHED, cell(results=[0, 0]), "error", words.NO_REPORT),  # fewer than there are cases
    (FINISHED, FINISHED, "error", words.NO_REPORT),
    (cell(error=MemoryError()), FINISHED, "error", words.OUT_OF_MEMORY),
    (
        cell(error=SyntaxError("no (123.py, line 2)")),
        *(FINISHED, "error", "your answer cell raised SyntaxError: no (line 2)"),
    ),
    (
        FINISHED,
        cell(error=NameError("name 'count_leaves' is not defined")),
        *("error", words.NOT_DEFINED.format(name="count_leaves")),
    ),
    (
        FINISHED,
        cell(error=NameError("name 'other' of /home/ada/x.py is not defined")),
        *("error", "the check could not run: NameError: name 'other' of …/x.py is not defined"),
    ),
]


@pytest.mark.parametrize(("answer", "check", "kind", "reason"), ENDS)
def test_an_end_without_results_has_a_kind_and_a_reason(lesson, answer, check, kind, reason):
    runs = {"count_leaves": ExerciseRun(answer, check)}
    submission = Submission({}, {"first_leaf": "is empty"})
    found, other = judge_submission(lesson, find_right_results(lesson), submission, runs)
    assert (str(found.kind), found.reason, found.points) == (kind, reason, 0)
    assert (str(other.kind), other.reason) == ("not attempted", "is empty")
    assert found.error_type == (answer.error[0] if answer.error else None)


HERE = "{}.{}".format(*sys.version_info)


@pytest.mark.parametrize(
    ("python", "error", "end"),
    [
        ("3.99", "ImportError", f"'s Python {HERE}; the notebook was made with 3.99"),
        ("3.9", "ImportError", "(…/typing.py)"),
        ("", "ImportError", "(…/typing.py)"),
        ("3.99", "KeyError", "(…/typing.py)"),
    ],
)
def test_an_error_names_both_pythons_if_the_notebooks_is_newer(lesson, python, error, end):
    answer = CellRun(error=(error, "cannot import 'override' (/home/teacher/lib/typing.py)"))
    runs = {"count_leaves": ExerciseRun(answer, CellRun())}
    submission = Submission({}, {}, python)
    found, _ = judge_submission(lesson, find_right_results(lesson), submission, runs)
    assert found.reason.endswith(end)


SETTINGS = RunSettings("", {}, 5, False, {"a": [observe(1)], "b": [observe(1), observe(2)]})


def test_results_are_known_to_be_wrong_where_right_ones_are_known():
    wrong = [SETTINGS.is_wrong(name, cell(results=[2])) for name in ("a", "b", "c")]
    assert wrong == [True, False, False]
    assert [SETTINGS.is_wrong("b", cell(results=[1, n])) for n in (2, 3)] == [False, True]
    assert not SETTINGS.is_wrong("a", FINISHED)


ENDED = ExerciseRun(FINISHED, cell(CellEnd.KERNEL_ENDED))
RIGHT, WRONG = ExerciseRun(FINISHED, REPORTED), ExerciseRun(FINISHED, cell(results=[2]))
LATE = ExerciseRun(cell(CellEnd.TIMED_OUT), FINISHED)


@pytest.mark.parametrize(
    ("kernels", "asked", "found"),
    [
        ([{"a": RIGHT, "b": RIGHT}], [("ab", "")], [RIGHT, RIGHT]),
        ([{"a": LATE}, {"b": RIGHT}], [("ab", ""), ("b", "")], [LATE, RIGHT]),
        # What ended the first kernel may be an earlier answer: it runs once more, alone.
        (
            [{"a": RIGHT, "b": ENDED}, {"b": ENDED}],
            [("ab", ""), ("b", "")],
            [RIGHT, ENDED],
        ),
        ([{"a": ENDED}, {"b": RIGHT}], [("ab", ""), ("b", "")], [ENDED, RIGHT]),
        ([{"a": RIGHT}, {"b": RIGHT}], [("ab", ""), ("b", "a")], [RIGHT, RIGHT]),
        ([{"a": RIGHT}, {}, {"b": RIGHT}], [("ab", ""), ("b", "a"), ("b", "")], [RIGHT, RIGHT]),
        # A wrong one is explained by its public cases, before which the kernel ended.
        ([{"a": WRONG, "b": RIGHT}, {"a": ENDED}], [("ab", ""), ("a", "b")], [WRONG, RIGHT]),
    ],
)
def test_what_runs_again_and_after_which_answers(monkeypatch, kernels, asked, found):
    ran, left = [], iter(kernels)

    def run_together(answers, earlier, settings, time):
        ran.append(("".join(answers), "".join(earlier)))
        return next(left)

    monkeypatch.setattr(exercise_run, "_run_together", run_together)
    assert [*run_answers({"a": "1", "b": "2"}, SETTINGS).values()] == found
    assert ran == asked


class Kernel:
    """A kernel in which each cell ends as it says."""

    def __init__(self):
        self.ran = []

    def start_exercise(self):
        self.ran.append("|")

    def run_cell(self, source):
        self.ran.append(source)
        return {"ends": cell(CellEnd.TIMED_OUT), "wrong": cell(results=[2])}.get(source, REPORTED)


def cell_ids(*names):
    first = [cell_id for name in names for cell_id in (f"{name}-answer", f"{name}-check")]
    return ["setup", *first, *(each for name in names for each in again_ids(name))]


@pytest.mark.parametrize(
    ("sources", "ran"),
    [
        ("s a right b right . . . .", "s | a right | b right"),
        ("s a ends b right . . . .", "s | a ends"),
        ("s a wrong b right a wrong . .", "s | a wrong | b right | a wrong"),
    ],
)
def test_each_answer_has_a_budget_and_wrong_ones_have_one_for_all(sources, ran):
    kernel, plan = Kernel(), _Plan(["a", "c"], SETTINGS)
    for cell_id, source in zip(cell_ids("a", "c"), sources.split(), strict=True):
        plan.run_cell(kernel, type("Cell", (), {"id": cell_id, "source": source}))
    assert " ".join(kernel.ran) == ran
    public_check = cell(results=[2]) if ran.endswith("wrong") else None
    assert plan.exercise_run("a").public_check == public_check
