"""The time that a kernel is charged: all of the clock, except waits for a processor."""

import subprocess
import sys
import time
from collections.abc import Mapping

import psutil
import pytest

from pytree_course.grading import limits
from pytree_course.grading.budget import Budget, OverBudgetError, SubmissionTime
from pytree_course.grading.cell_run import CellEnd
from pytree_course.grading.kernels import process_tree, processor_seconds

BUSY_FOR_A_WHILE = "import time\nwhile time.process_time() < 0.5: pass"
BUSY_CHILD = f"""\
import subprocess, sys
subprocess.run([sys.executable, "-c", {BUSY_FOR_A_WHILE!r}])
print("ended", flush=True)
sys.stdin.read()
"""


def used_by(process):
    return sum(processor_seconds(process_tree(process.pid)).values())


@pytest.mark.slow
def test_time_of_children_is_counted_once():
    command = [sys.executable, "-c", BUSY_CHILD]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        while used_by(process) < 0.2:
            time.sleep(0.05)
        assert process.stdout.readline() == "ended\n"  # its parent has the time of its child now
        used = used_by(process)
        now = psutil.Process(process.pid).cpu_times()
    all_of_them = now.user + now.system + now.children_user + now.children_system
    assert used == pytest.approx(all_of_them, abs=0.05)


class Kernel:
    """A kernel whose clock and processes stand still until they are told."""

    now = 0.0
    processor: Mapping[str, float] = {}
    queue: Mapping[str, float] = {}
    own = 0.0  # seconds of the thread that reads its messages

    def processor_seconds(self):
        return self.processor

    def queue_seconds(self):
        return self.queue


@pytest.fixture
def kernel(monkeypatch):
    kernel = Kernel()
    monkeypatch.setattr(time, "monotonic", lambda: kernel.now)
    monkeypatch.setattr("pytree_course.grading.budget.read_own_seconds", lambda: kernel.own)
    return kernel


@pytest.mark.parametrize(
    ("processor", "queue", "own", "computed", "waited"),
    [
        ({"main": 4.0, "child": 3.0}, {}, 0.0, 7.0, 3.0),
        ({"main": 1_000.0}, {}, 0.0, 10.0, 0.0),
        ({"main": 2.0}, {"main": 8.0}, 0.0, 2.0, 0.0),
        ({"main": 1.0}, {"main": 0.5, "child": 7.0}, 0.0, 1.0, 2.0),
        ({}, {}, 0.0, 0.0, 10.0),
        ({}, {}, 9.0, 0.0, 1.0),
    ],
)
def test_of_ten_seconds_those_without_a_wait_for_a_processor_or_for_us_are_charged(
    kernel, processor, queue, own, computed, waited
):
    budget = Budget(kernel, 60.0, submission := SubmissionTime())
    kernel.now, kernel.processor, kernel.queue, kernel.own = 10.0, processor, queue, own
    budget.count_time_if_due()
    assert (budget.computed, budget.waited) == (computed, waited)
    assert submission.seconds == computed + 2 * waited


def test_time_is_counted_a_few_times_a_second_and_messages_and_bytes_as_they_come(
    kernel, monkeypatch
):
    budget = Budget(kernel, 60.0, SubmissionTime())
    kernel.now, kernel.processor = 0.2, {"main": 0.1}
    budget.count_time_if_due()
    assert budget.seconds == 0.0
    budget.count_processor_time()
    assert (budget.seconds, budget.waited) == (0.1, 0.0)
    monkeypatch.setattr(limits, "EXERCISE_MESSAGES", 3)
    monkeypatch.setattr(limits, "EXERCISE_BYTES", 100)
    for size in (40, 60, 0):
        budget.charge_message(size)
    for sizes in ([40, 60, 1], [0, 0, 0, 0]):
        flooded = Budget(kernel, 60.0, SubmissionTime())
        with pytest.raises(OverBudgetError) as over:
            for size in sizes:
                flooded.charge_message(size)
        assert over.value.end is CellEnd.FLOODED


def test_time_of_a_child_that_nobody_waits_for_is_kept(kernel):
    budget = Budget(kernel, 60.0, SubmissionTime())
    for second, child in enumerate(("first", "second", "third"), start=1):
        kernel.now, kernel.processor = second, {"main": 0.0, child: 1.0}
        budget.count_time_if_due()
    assert budget.computed == 3.0


@pytest.mark.parametrize(
    ("processor", "used_before", "end"),
    [(19.0, 0.0, CellEnd.TIMED_OUT), (0.0, 0.0, CellEnd.WAITED), (5.0, 46.0, CellEnd.NO_TIME_LEFT)],
)
def test_cells_end_when_their_time_or_that_of_their_submission_is_over(
    kernel, processor, used_before, end
):
    budget = Budget(kernel, 18.0, SubmissionTime(used_before))
    kernel.now, kernel.processor = max(processor, 9.5), {"main": processor}
    kernel.queue = {"main": 0.0 if end is CellEnd.WAITED else 9.0}
    with pytest.raises(OverBudgetError) as over:
        budget.count_time_if_due()
    assert over.value.end is end
