"""A class in one room for tests: a real server, learners, and the teacher's pages."""

import asyncio
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPSConnection
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from pytree_course.board.log import Entry, Log
from pytree_course.board.pages import Pages
from pytree_course.board.server import listen, serve
from pytree_course.board.session import Session
from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson
from pytree_course.learner.questions import Question, questions
from tests.conftest import ROOT

PATIENCE = 60  # seconds, for what takes a moment
LESSON = "01_leaves"
KEYS = map(str, count())
read_once = cache(BuiltLesson.read)


@cache
def questions_once(expected: Path) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson, which all rooms share: they take seconds to find."""
    return questions(read_once(expected), min_options=2)


def wait_for(condition: Any) -> Any:
    """Wait until something is so; it takes a moment, and on a busy machine longer."""
    end = time.monotonic() + PATIENCE
    while not (met := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return met


@dataclass
class Reply:
    """What the server answered."""

    status: int
    body: str
    headers: http.client.HTTPMessage

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Room:
    """What is asked of a server, wherever it runs."""

    port = 0
    code = token = ""
    trusted: ssl.SSLContext | None = None  # for https

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connection(self) -> HTTPConnection:
        if self.trusted:
            return HTTPSConnection("localhost", self.port, context=self.trusted, timeout=PATIENCE)
        return HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: str | bytes = "", **headers: str) -> Reply:
        connection = self.connection()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.read().decode(), answer.headers)
        connection.close()
        return reply

    def send(self, path: str, content: Any, secret: str = "") -> Reply:
        return self.ask("POST", path, json.dumps(content), Authorization=f"Bearer {secret}")

    def join(self, name: str = "", code: str | None = None) -> "Learner":
        reply = self.send("/join", {"code": self.code if code is None else code, "name": name})
        assert reply.status == 200, reply
        return Learner(self, **reply.data)

    @property
    def cookie(self) -> str:
        """What opens the teacher's pages."""
        return f"teacher={self.token}"

    def page(self, name: str) -> str:
        return self.ask("GET", f"/{name}", Cookie=self.cookie).body

    def news(self, name: str = "board") -> dict[str, str]:
        """Return all parts of a page, as a browser gets them."""
        return self.ask("GET", f"/{name}/news", Cookie=self.cookie).data

    def act(self, do: str, **fields: str) -> Reply:
        return self.post_form({"do": do, "token": self.token, **fields})

    def post_form(self, fields: dict[str, str], **headers: str) -> Reply:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", "/board", urlencode(fields), **kind, **headers)


@dataclass
class Learner:
    """Somebody who has joined."""

    room: Room
    secret: str
    name: str

    def send(self, *events: dict[str, str]) -> Reply:
        return self.room.send("/events", {"events": events}, self.secret)

    def tried(self, exercise: str, *held: str) -> Reply:
        return self.send(event(exercise, *held))

    def solved(self, exercise: str) -> Reply:
        return self.send(event(exercise, event="correct"))

    def vote(self, number: int, choice: str) -> Reply:
        return self.room.send("/ballot", {"vote": number, "choice": choice}, self.secret)


def event(exercise: str, *held: str, **said: str) -> dict[str, str]:
    return {
        "key": next(KEYS),
        "lesson": LESSON,
        "exercise": exercise,
        "event": "tried",
        "held": "; ".join(held),
    } | said


class Classroom(Room):
    """A server in a thread; it can be stopped, and started again with the same file."""

    def __init__(self, file: Path, *certificates: Path, root: Path = ROOT) -> None:
        self.file, self._certificates, self._course = file, certificates, Course(root)

    def start(self) -> "Classroom":
        """Start, and return when learners can join."""
        started: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        started.result()
        return self

    async def _serve(self, started: "Future[None]") -> None:
        try:
            sockets, encrypted = listen("127.0.0.1", self.port, *self._certificates)
            self.port = sockets[0].getsockname()[1]
            self.session = Session(self.file)
        except Exception as error:
            started.set_exception(error)
            return
        with patch.object(BuiltLesson, "read", read_once):
            self.pages = Pages(self._course, self.session, self.address)
        of_lesson = self._course.lesson
        self.pages.questions = cache(lambda stem: questions_once(of_lesson(stem).expected))
        self.code, self.token = self.session.room.code, self.session.room.token
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(serve(self.pages, sockets, encrypted))
        self._loop.call_soon(started.set_result, None)
        await asyncio.wait([self._task])
        for each in sockets:
            each.close()
        if not self.session.over.is_set():
            self.session.log.close()

    def logged(self) -> list[Entry]:
        log = Log(self.file)
        entries = log.entries()
        log.close()
        return entries

    def in_loop(self, function: Any, *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(function, *arguments)

    def stop(self) -> None:
        """Stop; nothing is stored then that was not before."""
        if self._thread.is_alive():
            self.in_loop(self._task.cancel)
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()


class Started(Room):
    """`course.py classroom`, as a process that can be killed."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def start(self) -> "Started":
        """Start, and return when learners can join."""
        command = [sys.executable, "-m", "pytree_course", "classroom"]
        command += ["--into", str(self.file), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, encoding="utf-8",
            env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        assert self.process.stdout
        said = ""
        while "Only this machine can join" not in said:
            said += (line := self.process.stdout.readline())
            assert line, said
        found = re.search(r':(\d+)", "(.*)"\).*token=(\S+)', said, re.DOTALL)
        assert found, said
        port, self.code, self.token = found.groups()
        self.port = int(port)
        while self.process.poll() is None:
            try:
                self.ask("GET", "/")
                return self
            except OSError:  # it listens in a moment
                time.sleep(0.05)
        raise AssertionError(said)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.communicate()


def a_question(room: Classroom) -> dict[str, str]:
    """Return what the teacher's button sends to ask a question with four options."""
    return next(each.key for each in room.pages.choose_questions("", "") if len(each.options) == 4)
