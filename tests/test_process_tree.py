"""What a kernel's processes use: their time is counted once, and waiting is told from sleeping."""

import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from pytree_course.grading import budget
from pytree_course.grading.budget import CellBudget, LostOutputError, ProcessTree

pytestmark = pytest.mark.slow

SLEEPS = "import time; time.sleep(600)"
BUSY = "while True: pass"
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
    tree = ProcessTree.below(process.pid)
    while tree.look()[0] < 0.2:
        time.sleep(0.05)
    assert process.stdout.readline() == "ended\n"  # its parent has the time of its child now
    used, _ = tree.look()
    now = psutil.Process(process.pid).cpu_times()
    all_of_them = now.user + now.system + now.children_user + now.children_system
    assert used == pytest.approx(all_of_them, abs=0.05)
    assert tree.used() == pytest.approx(used, abs=0.05)


THREAD_OF_A_GRANDCHILD = f"""\
import subprocess, sys
thread = "import _thread, time\\ndef spin():\\n  while True: pass\\n"
thread += "_thread.start_new_thread(spin, ())\\ntime.sleep(600)"
code = f"import subprocess, sys\\nsubprocess.run([sys.executable, '-c', {{thread!r}}])"
subprocess.Popen([sys.executable, "-c", code])
{SLEEPS}
"""


def test_time_of_grandchildren_and_of_threads_is_counted(started):
    process = started(THREAD_OF_A_GRANDCHILD)
    tree, deadline = ProcessTree.below(process.pid), time.monotonic() + 60
    while tree.look()[0] < 0.5:
        assert time.monotonic() < deadline
        time.sleep(0.05)


TWO_THREADS = "import threading\ndef spin():\n    while True: pass\n" + (
    "for _ in range(2): threading.Thread(target=spin).start()"
)


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux tells it")
def test_the_waits_of_threads_are_counted_and_their_sleep_is_not(started):
    asleep = started(f"print('ready', flush=True); {SLEEPS}")
    assert asleep.stdout.readline() == "ready\n"
    tree, deadline = ProcessTree.below(asleep.pid), time.monotonic() + 60
    while tree.look()[1] > 0:  # until it has fallen asleep
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # What one thread has, the other one of the same process waits for: the first has ended.
    tree = ProcessTree.below(started(f"import _thread\n{TWO_THREADS}", "taskset", "-c", "0").pid)
    other = started(BUSY, "taskset", "-c", "0")
    waited = 0.0
    while waited < 0.1:
        waited += tree.look()[1]
        assert other.poll() is None
        assert time.monotonic() < deadline


class Told(ProcessTree):
    """Processes of which is told what they used, and how long they waited."""

    processor, waited = 0.0, 0.0

    def used(self):
        return self.processor

    def look(self):
        return self.processor, self.waited


@pytest.fixture
def now(monkeypatch):
    """Return the time on the clock, in a list; a test moves it on."""
    now = [0.0]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.mark.parametrize(
    ("processor", "waited", "counted"),
    [(0.0, 0.0, 10.0), (1.0, 9.0, 1.0), (1.0, 5.0, 5.0), (2.0, 50.0, 2.0), (1_000.0, 0.0, 10.0)],
)
def test_a_cells_time_is_the_clocks_less_waiting_and_at_least_the_processors(
    now, processor, waited, counted
):
    processes = Told("/proc")
    cell = CellBudget(processes, seconds=18.0, ends=600.0)
    now[0], processes.processor, processes.waited = 10.0, processor, waited
    assert cell.look()
    assert cell.seconds == counted


@pytest.mark.parametrize(("silence", "waited"), [(6.0, 6.0), (4.0, 20.0)])
def test_a_cell_that_has_ended_has_five_seconds_for_each_message_and_no_more_than_its_own(
    now, silence, waited
):
    cell = CellBudget(Told("/proc"), seconds=18.0, ends=600.0)
    cell.end_within(5.0)
    with pytest.raises(LostOutputError):
        while now[0] < 100:
            cell.look()
            cell.expect_message()
            cell.charge(1)
            now[0] += silence
    assert now[0] == waited
