"""How soon the board shows a check in a full room, and what two crashes lose: see `--help`.

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
import json
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, sync_playwright

from class_page import results
from machine import described_machine
from made_room import LESSON, SECONDS_BETWEEN_CHECKS, Learners, Room, Server
from page_parts import put, table
from pytree_course.course import Course, write_file
from pytree_course.judging.expected import BuiltLesson

DOWN = 2.0  # seconds between a kill and the new start
AROUND = (-1.0, 20.0)  # seconds from a kill, in which latencies are those of a crash
LONGEST_WAIT = 120.0  # seconds for the last events to arrive
FIGURES = ("p50", "p99", "max")  # the middle, the longest but one in a hundred, the longest

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-quic"]

WATCH = """(id) => {
  const part = document.getElementById(id);
  const solved = (row) => Number(row.cells[3].textContent);
  window.seen = [];
  new MutationObserver(() => requestAnimationFrame(() => {
    const rows = part.querySelector("table")?.tBodies[0].rows ?? [];
    window.seen.push([Date.now() / 1000, [...rows].map(solved)]);
  })).observe(part, { childList: true, subtree: true });
}"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--write", action="store_true", help="results, and docs/performance.md")
    chosen = parser.parse_args()
    course = Course.around()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, sync_playwright() as playwright:
        rounds = int(chosen.seconds / SECONDS_BETWEEN_CHECKS)
        room = Room(Path(name), chosen.learners, rounds)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        content = {"machine": described_machine(course), **vars(chosen)} | measure(room, browser)
    sys.stdout.write(json.dumps(content, indent=1) + "\n")
    if chosen.write:
        write_file(results(course.root, "class_room"), json.dumps(content, indent=1) + "\n")
        put(course.root, "class_room", paragraph(content))
    if content["missing"] or content["surplus"]:
        sys.exit("The log does not hold each event once.")


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
    deadline = time.monotonic() + LONGEST_WAIT
    while (stored := in_log(server)) != sorted(sent) and time.monotonic() < deadline:
        time.sleep(0.5)
    missing, surplus = {*sent} - {*stored}, len(stored) - len({*sent} & {*stored})
    return {"events": len(sent), "missing": len(missing), "surplus": surplus}


def in_log(server: Server) -> list[tuple[str, str]]:
    """Return whose checks are in the log, with their keys."""
    with closing(sqlite3.connect(server.log)) as database:
        return sorted(database.execute("SELECT who, key FROM event WHERE what = 'checked'"))


def latencies(
    solved: list[tuple[float, str]], shown: list[tuple[float, list[int]]], kills: list[float]
) -> dict[str, dict[str, float]]:
    """Return how long it took until a page counted what was solved, also around the kills."""
    exercises = BuiltLesson.read(Course.around().lesson(LESSON).expected).exercises
    found: dict[str, list[float]] = {"all": [], "server up": [], "around a kill": []}
    for column, name in enumerate(exercises):
        written = [moment for moment, exercise in solved if exercise == name]
        pages = iter([(0.0, 0), *((when, counts[column]) for when, counts in shown if counts)])
        when, count = next(pages)
        for number, moment in enumerate(written, 1):
            while count < number:
                when, count = next(pages)
            is_around = any(AROUND[0] <= moment - kill <= AROUND[1] for kill in kills)
            for kind in ("all", "around a kill" if is_around else "server up"):
                found[kind].append(when - moment)
    return {kind: summary(seconds) for kind, seconds in found.items()}


def summary(seconds: list[float]) -> dict[str, float]:
    """Return the figures of many latencies."""
    if len(seconds) < 2:
        return {"count": len(seconds)}
    parts = statistics.quantiles(seconds, n=100, method="inclusive")
    figures = {"p50": parts[49], "p99": parts[98], "max": max(seconds)}
    return {"count": len(seconds), **{name: round(value, 3) for name, value in figures.items()}}


def paragraph(content: dict[str, Any]) -> str:
    """Say in words and a table what was measured."""
    about, sizes = content["machine"], list(content["megabytes"].values())
    rows = [
        [f"{page}, {kind}", f"{each['count']:,}", *(f"{each[name]:.2f}" for name in FIGURES)]
        for page, kinds in content["latencies"].items()
        for kind, each in kinds.items()
        if kind != "all"
    ]
    said = (
        f"Measured on {about['date']} with commit `{about['commit']}` on {about['cores']} cores of "
        f"{about['processor']}, Python {about['python']}; before it began, {about['busy']} "
        f"processes were waiting for a core. {content['learners']} learners sent "
        f"{content['events']:,} events in {content['took']} seconds. After two kills, "
        f"{content['missing']} of them were missing in the log, and {content['surplus']} were "
        f"there twice, or had not been sent. The server had {sizes[0]} MB of memory before anybody "
        f"joined, {sizes[1]} MB before the first kill and {sizes[-1]} MB at the end. It kept "
        f"{content['cores_busy_server']} of a core busy; all that ran on the machine, learners, "
        f"browser and other work, {content['cores_busy']} cores."
    )
    return f"{said}\n\n{table(['seconds until it is shown', 'checks', *FIGURES], rows)}"


if __name__ == "__main__":
    main()
