"""A class in one room that a script makes: its server, and learners who check all the time."""

import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

import psutil

from pytree_course.board.session import id_of
from pytree_course.course import PROGRESS_VARIABLE, Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.notebook.joining import Sender, enter, events_after, read_membership

LESSON = "01_leaves"
SECONDS_BETWEEN_CHECKS = 2.0
PROCESSES = 3  # in which the learners' threads are


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
            events, place = events_after(membership.place, folder / "progress.jsonl")
            while events:
                for event in events:
                    yield id_of(membership.secret), f"sent {event['key']}"
                events, place = events_after(place, folder / "progress.jsonl")


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
    lesson = BuiltLesson.read(Course.around().lesson(LESSON).expected)
    exercises = list(lesson.exercises)
    numbers = range(part, room.learners, PROCESSES)
    progress = {}
    for number in numbers:
        folder = room.folder_of(number)
        os.environ[PROGRESS_VARIABLE] = str(folder)
        enter(Course.around(), address, code, "")
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
