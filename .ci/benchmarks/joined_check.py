"""How long a check takes in a class and outside: python .ci/benchmarks/joined_check.py [ROUNDS]

In one process, as in a notebook's kernel, the same check cell is run again and again, with a right
answer: ten runs while nobody has joined, ten in a class, ten in a class whose server refuses, and
so on in turn. Measured is the whole cell, verdict included: by the clock, and as processor time of
the thread that checks. The class's server is a process of its own, as it would be on another
machine. At the end it has each verdict once.
"""

import contextlib
import io
import multiprocessing
import shutil
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))  # the tests have a server to join

from pytree_course import ipython
from pytree_course.course import Course
from pytree_course.notebook import joining
from tests.class_server import CODE, Room

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
RUNS = 10
SET_UP = """
import jax
from pytree_course import Checks
check = Checks("01_leaves")
def count_leaves(tree):
    return len(jax.tree.leaves(tree))
"""
STATES = ("nobody has joined", "in a class", "in a class whose server refuses")


def serve(asked: Connection) -> None:
    """Be a class's server; when asked, answer or refuse, and tell how many verdicts came."""
    room = Room()
    room.start()
    asked.send(room.address)
    while answers := asked.recv():
        room.refuses = 0 if answers == "answer" else 503
        asked.send(len(room.events))


def run_checks(shell: InteractiveShell) -> list[tuple[float, float]]:
    """Run the check cell some times; return the milliseconds of each, by both clocks."""
    times = []
    for _ in range(RUNS):
        start, start_of_thread = time.perf_counter(), time.thread_time()
        shell.run_cell("check.count_leaves(count_leaves)").raise_error()
        end, end_of_thread = time.perf_counter(), time.thread_time()
        times.append((1000 * (end - start), 1000 * (end_of_thread - start_of_thread)))
    return times


def main() -> None:
    """Print a table, and whether each verdict arrived once."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    context.Process(target=serve, args=[theirs], daemon=True).start()
    address, course = ours.recv(), Course.find()
    times: dict[str, list[tuple[float, float]]] = {state: [] for state in STATES}

    def arrived(answers: str) -> int:
        ours.send(answers)
        return int(ours.recv())

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        shutil.copytree(course.root / "checks", Path(folder, "checks"))
        shell = InteractiveShell.instance()
        ipython.load_ipython_extension(shell)
        shell.run_cell(SET_UP).raise_error()
        run_checks(shell)  # what is loaded once is not timed
        before = threading.active_count()
        for _ in range(ROUNDS):
            times[STATES[0]] += run_checks(shell)
            joining.join(address, CODE)
            times[STATES[1]] += run_checks(shell)
            arrived("refuse")
            times[STATES[2]] += run_checks(shell)
            sent = len(times[STATES[1]]) + len(times[STATES[2]])
            while arrived("answer") < sent:  # after a pause it tries again
                time.sleep(0.1)
            joining.leave()
            while threading.active_count() > before:
                time.sleep(0.1)
    table = Table("A check", "median, ms", "ratio", "of the processor, ms", "ratio")
    outside = [statistics.median(each) for each in zip(*times[STATES[0]], strict=True)]
    for state, measured in times.items():
        medians = [statistics.median(each) for each in zip(*measured, strict=True)]
        ratios = [here / there for here, there in zip(medians, outside, strict=True)]
        figures = (medians[0], ratios[0], medians[1], ratios[1])
        table.add_row(state, *(f"{each:.2f}" for each in figures))
    Console().print(table)
    print(f"{arrived('answer')} verdicts arrived, each once; {2 * RUNS * ROUNDS} were sent.")
    ours.send("")


if __name__ == "__main__":
    main()
