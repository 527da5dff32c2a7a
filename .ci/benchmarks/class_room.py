"""Time how soon the board shows a check in a full room, and count what two crashes lose.

python .ci/benchmarks/class_room.py

Learners, each with a progress file and the course's own thread that sends it, check something every
two seconds. The board and the projector's page are open in Chromium. The server is killed twice
(`kill -9`) and started again. All of that runs on this machine.

A latency is the time from just before an event's line is written into the learner's progress file
until the browser is about to paint a page that counts it. Most checks change no number on the page:
in each round of two seconds, one learner solves each exercise. The n-th solution of an exercise
that was written is compared with the first page that counts n.
"""

import argparse
import os
import random
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, sync_playwright

from class_time import described_machine, table
from pytree_course.board.class_analysis import plan_minutes
from pytree_course.board.session import id_from_secret
from pytree_course.course import PROGRESS_VARIABLE, Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.notebook.joining import Sender, read_verdicts
from pytree_course.notebook.membership import join_class, read_membership

LESSON = "01_leaves"
SECONDS_BETWEEN_CHECKS = 2.0
PROCESSES = 3  # in which the learners' threads are
DOWN = 2.0  # seconds between a kill and the new start
AROUND = (-1.0, 20.0)  # seconds from a kill, in which latencies are those of a crash
MAX_WAIT = 120.0  # seconds for the last events to arrive
FIGURES = ("p50", "p99", "max")  # the middle, the longest but one in a hundred, the longest

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-quic"]

WATCH = """(id) => {
  const part = document.getElementById(id);
  const solved = ({ cells }) => [parseInt(cells[0].textContent), Number(cells[3].textContent)];
  window.seen = [];
  new MutationObserver(() => requestAnimationFrame(() => {
    const rows = part.querySelector("table")?.tBodies[0].rows ?? [];
    window.seen.push([Date.now() / 1000, Object.fromEntries([...rows].map(solved))]);
  })).observe(part, { childList: true, subtree: true });
}"""


class Server:
    """The command `classroom`, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "classroom.sqlite"
        self.cpu_seconds = 0.0  # of all that were killed
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self._port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it has said how to join."""
        line = [sys.executable, "-m", "pytree_course", "classroom", "--into", str(self.log)]
        self._process = subprocess.Popen(
            [*line, "--port", str(self._port)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        said = ""
        while "Only this machine can join" not in said:
            assert self._process.stdout
            said += self._process.stdout.readline()
        self.address, self.code = re.findall(r'join\("(.+)", "(.+)"\)', said)[0]
        self.board = re.findall(r"Your board: (\S+)", said)[0]
        self.looked_at = psutil.Process(self._process.pid)

    def kill(self) -> None:
        """End it as `kill -9` does: it can finish nothing."""
        used = self.looked_at.cpu_times()
        self.cpu_seconds += used.user + used.system
        self._process.kill()
        self._process.wait()

    @property
    def megabytes(self) -> float:
        """What it has in memory now."""
        return self.looked_at.memory_info().rss / 1e6


@dataclass(frozen=True)
class Room:
    """Who takes part, for how long, and where their files are."""

    folder: Path
    learners: int
    rounds: int

    def folder_of(self, number: int) -> Path:
        """Return where a learner's files are."""
        return self.folder / f"learner-{number}"

    def sent(self) -> Iterator[tuple[str, str]]:
        """Yield what has to be in the log: whose event, and its key."""
        for number in range(self.learners):
            folder = self.folder_of(number)
            membership = read_membership(folder / "joined.json")
            assert membership
            verdicts, end = read_verdicts(folder / "progress.jsonl", membership.progress_start)
            while verdicts:
                for verdict in verdicts:
                    yield id_from_secret(membership.secret), f"sent {verdict['key']}"
                verdicts, end = read_verdicts(folder / "progress.jsonl", end)


class Learners:
    """Learners in a few processes, of which each has a thread that sends, as in a kernel."""

    def __init__(self, room: Room, server: Server, context: SpawnContext) -> None:
        self._start, self._ended = context.Value("d", 0.0), context.Event()
        self._joined, self._solved = context.Barrier(PROCESSES + 1), context.Queue()
        shared = (self._joined, self._start, self._solved, self._ended)
        self._processes = [
            context.Process(
                target=take_part, args=(part, room, server.address, server.code, *shared)
            )
            for part in range(PROCESSES)
        ]
        for each in self._processes:
            each.start()

    def begin(self) -> float:
        """Wait until all have joined, and return the moment at which they begin to check."""
        self._start.value = time.time() + 3600
        self._joined.wait()
        self._start.value = time.time() + 2
        return self._start.value

    def solved(self) -> list[tuple[float, str]]:
        """Wait for the last check; return what was solved: when its line was written, in order."""
        return sorted(one for _ in self._processes for one in self._solved.get())

    def end(self) -> None:
        """End the processes, with their threads."""
        self._ended.set()
        for each in self._processes:
            each.join()


def take_part(
    part: int, room: Room, address: str, code: str, joined: Any, start: Any, solved: Any, ended: Any
) -> None:
    """Be some of the learners: join, check in turn, and send until the end."""
    lesson = BuiltLesson.read(Course.above().lesson(LESSON).expected)
    exercises = list(lesson.exercises)
    numbers = range(part, room.learners, PROCESSES)
    progress = {}
    for number in numbers:
        folder = room.folder_of(number)
        os.environ[PROGRESS_VARIABLE] = str(folder)
        join_class(Course.above(), address, code, "")
        membership = read_membership(folder / "joined.json")
        assert membership
        Sender(folder / "joined.json", membership).start()
        progress[number] = Progress(folder / "progress.jsonl")
    joined.wait()
    while start.value > time.time() + 60:
        time.sleep(0.1)
    written = []
    for at in range(room.rounds):
        for number in numbers:
            moment = start.value + SECONDS_BETWEEN_CHECKS * (at + number / room.learners)
            time.sleep(max(0.0, moment - time.time()))
            name = solves(number, at, room, exercises)
            if name:
                written.append((time.time(), name))
                progress[number].add(LESSON, name, "correct")
            else:
                tried = random.choice(exercises)
                held = random.choice(lesson.expected(tried).misconceptions).name
                progress[number].add(LESSON, tried, "tried", [held])
    solved.put(written)
    ended.wait()


def solves(number: int, at: int, room: Room, exercises: list[str]) -> str | None:
    """Return which exercise a learner solves in a round: each is solved by one learner a round."""
    apart = max(1, room.learners // len(exercises))
    turn, rest = divmod((number - at) % room.learners, apart)
    return exercises[turn] if rest == 0 and turn < len(exercises) and at < room.learners else None


def measure(room: Room, browser: Browser) -> dict[str, Any]:
    """Play a class, and return what was measured."""
    server = Server(room.folder)
    memory = {"before anybody joined": server.megabytes}
    board, screen = browser.new_context().new_page(), browser.new_context().new_page()
    for page, name, part in ((board, "board", "class"), (screen, "screen", "screen")):
        page.goto(server.board)
        page.goto(f"{server.address}/{name}")
        page.wait_for_selector(f"#{part} p")
        page.evaluate(WATCH, part)
    learners = Learners(room, server, get_context("spawn"))
    began = learners.begin()
    psutil.cpu_percent()
    kills = []
    for third in (1, 2):
        wait_until(began + third * room.rounds * SECONDS_BETWEEN_CHECKS / 3)
        memory[f"before kill {third}"] = server.megabytes
        kills.append(time.time())
        server.kill()
        time.sleep(DOWN)
        server.start()
    solved = learners.solved()
    memory["at the end"] = server.megabytes
    busy = psutil.cpu_percent() / 100 * psutil.cpu_count()
    seconds = time.time() - began
    sent = await_last(room, server)
    time.sleep(DOWN)  # for the pages
    seen = {"board": board.evaluate("window.seen"), "projector": screen.evaluate("window.seen")}
    learners.end()
    server.kill()
    return {
        **sent,
        "took": round(seconds),
        "latencies": {page: latencies(solved, shown, kills) for page, shown in seen.items()},
        "megabytes": {when: round(size) for when, size in memory.items()},
        "cores_busy": round(busy, 2),
        "cores_busy_server": round(server.cpu_seconds / seconds, 2),
    }


def wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


def await_last(room: Room, server: Server) -> dict[str, int]:
    """Wait until the log has what was sent; compare them."""
    sent = list(room.sent())
    deadline = time.monotonic() + MAX_WAIT
    while (stored := in_log(server)) != sorted(sent) and time.monotonic() < deadline:
        time.sleep(0.5)
    missing, surplus = {*sent} - {*stored}, len(stored) - len({*sent} & {*stored})
    return {"events": len(sent), "missing": len(missing), "surplus": surplus}


def in_log(server: Server) -> list[tuple[str, str]]:
    """Return whose checks are in the log, with their keys."""
    with closing(sqlite3.connect(server.log)) as database:
        return sorted(database.execute("SELECT learner_id, key FROM entry WHERE kind = 'checked'"))


def latencies(
    solved: list[tuple[float, str]], shown: list[tuple[float, dict[str, int]]], kills: list[float]
) -> dict[str, dict[str, float]]:
    """Return how long it took until a page counted what was solved, also around the kills."""
    lesson = BuiltLesson.read(Course.above().lesson(LESSON).expected)
    plan = plan_minutes(lesson)
    order = [*plan, *(name for name in lesson.exercises if name not in plan)]  # as on the board
    waited: dict[str, list[float]] = {"server up": [], "around a kill": []}
    for row, name in enumerate(order, 1):
        written = [moment for moment, exercise in solved if exercise == name]
        # The board has no row for an exercise that nobody has begun.
        pages = iter([(0.0, 0), *((when, counts.get(str(row), 0)) for when, counts in shown)])
        when, count = next(pages)
        for number, moment in enumerate(written, 1):
            while count < number:
                when, count = next(pages)
            is_around = any(AROUND[0] <= moment - kill <= AROUND[1] for kill in kills)
            waited["around a kill" if is_around else "server up"].append(when - moment)
    return {kind: summary(seconds) for kind, seconds in waited.items()}


def summary(seconds: list[float]) -> dict[str, float]:
    """Return the figures of many latencies."""
    if len(seconds) < 2:
        return {"count": len(seconds)}
    parts = statistics.quantiles(seconds, n=100, method="inclusive")
    figures = {"p50": parts[49], "p99": parts[98], "max": max(seconds)}
    return {"count": len(seconds), **{name: round(value, 3) for name, value in figures.items()}}


def report(measured: dict[str, Any]) -> str:
    """Return what was measured in words and a table."""
    memory = ", ".join(f"{size} MB {when}" for when, size in measured["megabytes"].items())
    said = (
        f"{measured['events']:,} events were sent in {measured['took']} seconds. After two kills, "
        f"{measured['missing']} of them were missing in the log, and {measured['surplus']} were "
        f"there twice, or had not been sent. The server had in memory: {memory}. It kept "
        f"{measured['cores_busy_server']} of a core busy; all that ran on the machine, learners, "
        f"browser and other work, {measured['cores_busy']} cores."
    )
    rows = [
        [f"{page}, {kind}", f"{each['count']:,}", *(f"{each.get(name, 0):.2f}" for name in FIGURES)]
        for page, kinds in measured["latencies"].items()
        for kind, each in kinds.items()
    ]
    return f"{said}\n\n{table(['seconds until it is shown', 'checks', *FIGURES], rows)}"


def main() -> None:
    """Play a class, and print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=240)
    chosen = parser.parse_args()
    machine = described_machine(Course.above().root)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, sync_playwright() as playwright:
        rounds = int(chosen.seconds / SECONDS_BETWEEN_CHECKS)
        room = Room(Path(name), chosen.learners, rounds)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        measured = measure(room, browser)
    print(f"{machine} {chosen.learners} learners.\n{report(measured)}")
    if measured["missing"] or measured["surplus"]:
        sys.exit("The log does not hold each event once.")


if __name__ == "__main__":
    main()
