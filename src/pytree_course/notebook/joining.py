"""The learner's side of a class session: join it, send verdicts, show its notes and votes."""

import json
import os
import threading
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ipywidgets
import segno
from IPython.core.getipython import get_ipython
from IPython.display import display
from markupsafe import Markup
from msgspec import to_builtins

from pytree_course.course import Course, CourseError
from pytree_course.ipython import CHECK_CALL
from pytree_course.judging.feedback import both_forms, note
from pytree_course.notebook import class_protocol
from pytree_course.notebook.base import Play, frame_layout
from pytree_course.notebook.prediction import entry
from pytree_course.observing.reading import read_json
from pytree_course.rendering import Feedback, render
from pytree_course.running.outcomes import SEED_VARIABLE
from pytree_course.texts import write_file

LOOKS_EVERY, ASKS_EVERY, PATIENCE = 0.4, 3, 5  # seconds
NO_ANSWER = 0  # in the place of an HTTP status
FIELDS = class_protocol.Sent.__struct_fields__
CONNECTIONS = {"http": HTTPConnection, "https": HTTPSConnection}


@dataclass(frozen=True)
class Membership:
    """Where a learner has joined, and by which secret the server knows them."""

    address: str
    code: str
    asked: str  # the name that the learner chose; empty if one was made up
    place: int  # in the progress file: what is before it is not sent
    secret: str
    name: str

    def ask(self, path: str = "events", **content: Any) -> tuple[int, class_protocol.News | None]:
        """Send something as this learner; return the status, and the news if it is 200."""
        url, content = f"{self.address}/{path}", content or {"events": []}
        return post(url, content, class_protocol.News, self.secret)


def read_membership(file: Path | None) -> Membership | None:
    """Read the membership that a file keeps, if there is one."""
    with suppress(FileNotFoundError):
        return Membership(**json.loads(file.read_bytes())) if file else None
    return None


def post(url: str, content: Any, kind: Any, secret: str = "") -> tuple[int, Any]:
    """Send JSON to a class; return its status and, if that is 200, its answer as a value of a type.

    It goes past the system's proxy, which does not reach a computer in this room. An answer of
    anything but a class, such as a proxy's own, counts as `NO_ANSWER`.
    """
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        address = urlsplit(url)
        connect = CONNECTIONS[address.scheme]
        with closing(connect(address.netloc, timeout=PATIENCE)) as connection:
            connection.request("POST", address.path, json.dumps(content), headers)
            answer = connection.getresponse()
            if class_protocol.CLASS_HEADER not in answer.headers:
                return NO_ANSWER, None
            return answer.status, read_json(kind, answer.read()) if answer.status == 200 else None
    except (KeyError, OSError, HTTPException, ValueError):  # no address, or nobody there
        return NO_ANSWER, None


class Sender(threading.Thread):
    """Sends what is added to the progress file, for as long as the learner is in the class.

    That file is the queue. Several kernels may send the same verdict: the server takes it once.
    """

    def __init__(self, file: Path, membership: Membership) -> None:
        super().__init__(daemon=True)
        self.file, self.membership = file, membership
        self.news: class_protocol.News | None = None  # from the last answer

    def run(self) -> None:
        """Send new verdicts at once, and otherwise ask for news now and then."""
        place, is_reached, next_time = self.membership.place, False, time.monotonic()
        progress = self.file.with_name("progress.jsonl")
        while read_membership(self.file) == self.membership:
            verdicts, place_after = verdicts_after(place, progress)
            if time.monotonic() >= next_time or (verdicts and is_reached):
                status, self.news = self.membership.ask(events=verdicts)
                is_reached = status in (200, 400)  # taken, or in a form that is never taken
                if is_reached:
                    place = place_after
                    self._show_next_round()
                elif status == 403 and read_membership(self.file) == self.membership:
                    self.file.unlink(missing_ok=True)  # another kernel may be as fast
                next_time = time.monotonic() + ASKS_EVERY
            time.sleep(LOOKS_EVERY)

    def _show_next_round(self) -> None:
        vote, ballot = self.news and self.news.vote, Ballot.newest
        if vote and vote.is_open and ballot and vote.number > ballot.vote.number:
            ballot.show(vote)


def verdicts_after(place: int, progress: Path) -> tuple[list[dict[str, str]], int]:
    """Return the next verdicts after a place of the progress file, and the place after them."""
    written = progress.read_bytes() if progress.exists() else b""
    place = place if place <= len(written) else 0  # the learner started over
    verdicts: list[dict[str, str]] = []
    for line in written[place:].splitlines(keepends=True):
        if len(verdicts) == class_protocol.MAX_EVENTS or not line.endswith(b"\n"):
            break
        with suppress(ValueError):  # a damaged line, which `Progress` skips too
            event = read_json(dict[str, str], line)
            if event.get("event") in ("tried", "correct"):
                verdict = {field: event.get(field, "") for field in FIELDS}
                verdict["key"] = f"{place}-{sha256(line).hexdigest()[:16]}"
                verdicts.append(verdict)
        place += len(line)
    return verdicts, place


SENT = (
    "With each check, your teacher gets the exercise, the verdict, the names of reasons, the "
    "number of tries and the time; in a vote, your choice. Your code and answers are never sent."
)
REFUSED = {
    403: "The class does not know the code {code!r}: copy it once more.",
    429: "Too many join just now: wait a minute, and try again.",
}
NO_CLASS = (
    "No class answers at {address}. Copy the whole address once more: it looks like "
    "http://10.0.0.5:8910. Is this computer in the same network as your teacher's?"
)
VOTED = {
    200: "Your vote is {choice}. You can change it until the vote is closed.",
    403: "The class is over: {choice} does not count.",
    409: "The vote is closed: {choice} does not count.",
}
NOT_REACHED = "The class cannot be reached: {choice} does not count. Choose again in a moment."
OVER = (
    "You are in no class any more: it is over, you left it, or your teacher removed you. "
    "Nothing is sent."
)

_sender: Sender | None = None


def join(address: str, code: str, name: str = "") -> Feedback:
    """Join a class: from now on it gets your verdicts, and never your code."""
    course = Course.of_notebook()
    membership = enter(course, address, code, name)
    go_on(course.joined_file)
    link = f"{membership.address}/#{membership.secret}"
    qr = segno.make(link).svg_inline(omitsize=True, light="#fff")
    joined = welcome(membership)
    return Feedback(
        joined.html + render("notebook/phone.html", qr=Markup(qr)),
        f"{joined.text}\nOn your phone, as the same learner: {link}",
    )


def enter(course: Course, address: str, code: str, name: str) -> Membership:
    """Join a class for all kernels of a course; the same once more changes nothing."""
    file, progress, address = course.joined_file, course.progress_file, address.rstrip("/")
    if file is None or progress is None:
        raise CourseError("There is no learner here who could join a class.")
    before = read_membership(file)
    if before and (before.address, before.code, before.asked) == (address, code, name):
        _, news = before.ask()
        if news:
            return before
    status, joined = post(f"{address}/join", {"code": code, "name": name}, class_protocol.Joined)
    if joined is None:
        refusal = REFUSED.get(status, NO_CLASS)
        raise CourseError(refusal.format(address=address, code=code))
    place = progress.stat().st_size if progress.exists() else 0
    if before:
        before.ask("leave")  # there is one learner here
    membership = Membership(address, code, name, place, joined.secret, joined.name)
    write_file(file, json.dumps(asdict(membership)), mode=0o600)
    return membership


def welcome(membership: Membership) -> Feedback:
    """Say under which name a learner is in a class, and what it is sent."""
    return note("✓", f"You are in the class as {membership.name}", [SENT, "To leave: `leave()`"])


def leave() -> Feedback:
    """Leave the class: nothing is sent any more."""
    file = Course.of_notebook().joined_file
    membership = read_membership(file)
    if file and membership:
        file.unlink(missing_ok=True)
        membership.ask("leave")
    return note("○", "You are in no class. Nothing is sent.", [])


def vote() -> Play | Feedback:
    """Show the open vote, if there is one."""
    membership = read_membership(Course.of_notebook().joined_file)
    news = membership and membership.ask()[1]
    if membership and news and news.vote and news.vote.is_open:
        return Ballot(news.vote, membership)
    return note("○", "There is no open vote, or no class that answers.", [])


class Ballot(Play):
    """The question of a vote; the choice can be changed until the vote is closed.

    When the teacher opens another round, the newest ballot of a notebook shows it.
    """

    newest: "Ballot | None" = None

    def __init__(self, vote: class_protocol.Vote, membership: Membership) -> None:
        self._membership = membership
        super().__init__([], _question(vote), layout=frame_layout())
        self.show(vote)
        Ballot.newest = self

    def show(self, vote: class_protocol.Vote) -> None:
        """Show a vote in place of the one before."""
        self.vote, self._status = vote, ipywidgets.HTML()
        self._entry = entry(vote.options, "My vote", vote.choice)
        self._entry.observe(lambda change: self._cast(change["new"]), names="value")
        self.children = [ipywidgets.HTML(_question(vote).html), self._entry, self._status]

    def _cast(self, choice: str | None) -> None:
        if not choice:
            return
        status, _ = self._membership.ask("ballot", vote=self.vote.number, choice=choice)
        text = VOTED.get(status, NOT_REACHED).format(choice=choice)
        self._status.value = render("notebook/status.html", text=text)
        if status not in VOTED:
            self._entry.value = None  # so that the same can be chosen again


def _question(vote: class_protocol.Vote) -> Feedback:
    question = to_builtins(vote)
    question["given"] = vote
    return both_forms("question", question=question, place="Vote", lesson="your class")


def go_on(file: Path | None) -> None:
    """Send from this kernel too, if its learner has joined, and show news under its checks."""
    global _sender
    membership, shell = read_membership(file), get_ipython()
    if not file or not membership or not shell or SEED_VARIABLE in os.environ:
        return
    if _sender is None or _sender.membership != membership:
        _sender = Sender(file, membership)
        _sender.start()
        shell.events.register("post_run_cell", _NewsUnderChecks(_sender, shell).after_cell)


class _NewsUnderChecks:
    """Shows what the class says, each thing once, under the next check."""

    def __init__(self, sender: Sender, shell: Any) -> None:
        self._sender, self._shell = sender, shell
        self._name = sender.membership.name
        self._shown_numbers: set[int] = set()  # of notes and votes

    def after_cell(self, result: Any) -> None:
        if not CHECK_CALL.search(result.info.raw_cell or ""):
            return
        if self._sender.is_alive():
            if self._sender.news:
                self._show(self._sender.news)
            return
        self._shell.events.unregister("post_run_cell", self.after_cell)
        if not self._sender.file.exists():
            display(note("○", OVER, []))

    def _show(self, news: class_protocol.News) -> None:
        if news.name != self._name:
            self._name = news.name
            display(note("✉", "Your teacher", [f"In the class you are now {news.name}."]))
        if news.note and news.note.number not in self._shown_numbers:
            self._shown_numbers.add(news.note.number)
            display(note("✉", "Your teacher", [news.note.text]))
        if news.vote and news.vote.is_open and news.vote.number not in self._shown_numbers:
            self._shown_numbers.add(news.vote.number)
            if not Ballot.newest or Ballot.newest.vote.number != news.vote.number:
                display(Ballot(news.vote, self._sender.membership))
