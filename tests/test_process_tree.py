"""The time of a kernel's processes: processor time, counted once, and an end by the clock."""

import subprocess
import sys
import time

import psutil
import pytest

from pytree_course.grading import limits
from pytree_course.grading.budget import Budget, OverTimeError
from pytree_course.grading.kernels import process_tree, processor_seconds

pytestmark = pytest.mark.slow

SLEEPS = "import time; time.sleep(600)"
BUSY_FOR_A_WHILE = "import time\nwhile time.process_time() < 0.5: pass"
BUSY_CHILD = f"""\
import subprocess, sys
subprocess.run([sys.executable, "-c", {BUSY_FOR_A_WHILE!r}])
print("ended", flush=True)
{SLEEPS}
"""


@pytest.fixture
def started():
    """Start programs, and end them with all that they start."""
    processes = []

    def start(code, *before):
        command = [*before, sys.executable, "-c", code]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return processes[-1]

    yield start
    for process in processes:
        for each in [*psutil.Process(process.pid).children(recursive=True), process]:
            each.kill()
        process.communicate()


def test_time_of_children_is_counted_once(started):
    process = started(BUSY_CHILD)
    while processor_seconds(process_tree(process.pid)) < 0.2:
        time.sleep(0.05)
    assert process.stdout.readline() == "ended\n"  # its parent has the time of its child now
    used = processor_seconds(process_tree(process.pid))
    now = psutil.Process(process.pid).cpu_times()
    all_of_them = now.user + now.system + now.children_user + now.children_system
    assert used == pytest.approx(all_of_them, abs=0.05)


THREAD_OF_A_GRANDCHILD = f"""\
import subprocess, sys
thread = "import _thread, time\\ndef spin():\\n  while True: pass\\n"
thread += "_thread.start_new_thread(spin, ())\\ntime.sleep(600)"
code = f"import subprocess, sys\\nsubprocess.run([sys.executable, '-c', {{thread!r}}])"
subprocess.Popen([sys.executable, "-c", code])
{SLEEPS}
"""


def test_time_of_grandchildren_and_of_threads_is_counted(started):
    process, deadline = started(THREAD_OF_A_GRANDCHILD), time.monotonic() + 60
    while processor_seconds(process_tree(process.pid)) < 0.5:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("processor", "passed", "counted"), [(0.0, 10.0, 0.0), (2.0, 10.0, 2.0), (1_000.0, 10.0, 10.0)]
)
def test_the_time_of_cells_is_the_processors_and_at_most_the_clocks(
    monkeypatch, processor, passed, counted
):
    now, used = 0.0, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    budget = Budget(lambda: used, max_seconds=18.0)
    now, used = passed, processor
    budget.count_time_if_due()
    assert budget.seconds == counted


def test_cells_that_only_wait_are_ended_by_the_clock(monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    budget = Budget(lambda: 0.0, max_seconds=18.0)
    now = limits.WALL_SECONDS - 1
    budget.count_time_if_due()
    now = limits.WALL_SECONDS + 1
    with pytest.raises(OverTimeError):
        budget.count_time_if_due()
