"""The learner's side of a class session: join it, send verdicts, show its notes and votes."""

import json
import os
import threading
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
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

SECONDS_BETWEEN_LOOKS = 0.4  # at the progress file
SECONDS_BETWEEN_REQUESTS = 3  # for news, or to a class that does not answer
TIMEOUT_SECONDS = 5
SENT_FIELDS = ("lesson", "exercise", "event", "held")  # of an event in the progress file

SENT = (
    "With each check, your teacher gets the exercise, the verdict, the names of reasons, the "
    "number of tries and the time; in a vote, your choice. Your code and answers are never sent."
)
WRONG_CODE = "The class does not know the code {code!r}: copy it once more."
NO_CLASS = (
    "No class answers at {address}. Copy the whole address once more: it looks like "
    "http://10.0.0.5:8910. Is this computer in the same network as your teacher's?"
)
VOTED: dict[int | None, str] = {
    200: "Your vote is {choice}. You can change it until the vote is closed.",
    403: "The class is over: {choice} does not count.",
    409: "The vote is closed: {choice} does not count.",
}
NOT_REACHED = "The class cannot be reached: {choice} does not count. Choose again in a moment."
OVER = (
    "You are in no class any more: it is over, you left it, or your teacher removed you. "
    "Nothing is sent."
)


# --- what notebooks call


def join(address: str, code: str, name: str = "") -> Feedback:
    """Join a class: from now on it gets your verdicts, and never your code."""
    course = Course.of_notebook()
    membership = join_class(course, address, code, name)
    take_part(course.joined_file)
    link = f"{membership.address}/#{membership.secret}"
    qr = segno.make(link).svg_inline(omitsize=True, light="#fff")
    welcome = welcome_note(membership)
    return Feedback(
        welcome.html + render("notebook/phone.html", qr=Markup(qr)),
        f"{welcome.text}\nOn your phone, as the same learner: {link}",
    )


def leave() -> Feedback:
    """Leave the class: nothing is sent any more."""
    file = Course.of_notebook().joined_file
    membership = read_membership(file)
    if file and membership:
        file.unlink(missing_ok=True)
        membership.send("leave")
    return note("○", "You are in no class. Nothing is sent.", [])


def vote() -> Play | Feedback:
    """Show the open vote, if there is one."""
    file = Course.of_notebook().joined_file
    membership = read_membership(file)
    news = membership.ask_news() if membership else None
    if not membership or not news or not news.vote or not news.vote.is_open:
        return note("○", "There is no open vote, or no class that answers.", [])
    ballot = Ballot(news.vote, membership)
    if sender := take_part(file):
        sender.newest_ballot = ballot
    return ballot


# --- joining


class Reply(NamedTuple):
    """The status of a class's reply and, if that is 200, its content; None if no class replied."""

    status: int | None
    content: Any


@dataclass(frozen=True)
class Membership:
    """Where a learner has joined, and by which secret the server knows them."""

    address: str
    code: str
    chosen_name: str  # empty if one was made up
    progress_start: int  # in the progress file: what is before it is not sent
    secret: str
    name: str

    def send(self, path: str, **content: Any) -> Reply:
        """Send something as this learner; the reply contains the news."""
        return post(f"{self.address}/{path}", content, class_protocol.News, self.secret)

    def ask_news(self) -> class_protocol.News | None:
        """Return the news of the class, or None if it does not know this learner any more."""
        news: class_protocol.News | None = self.send("events", events=[]).content
        return news


def join_class(course: Course, address: str, code: str, name: str) -> Membership:
    """Join a class for all kernels of a course; doing the same again changes nothing."""
    file, progress = course.joined_file, course.progress_file
    if file is None or progress is None:
        raise CourseError("There is no learner here who could join a class.")
    address = address.rstrip("/")
    earlier = read_membership(file)
    if earlier:
        is_same = (earlier.address, earlier.code, earlier.chosen_name) == (address, code, name)
        if is_same and earlier.ask_news():
            return earlier
    status, joined = post(f"{address}/join", {"code": code, "name": name}, class_protocol.Joined)
    if status == 403:
        raise CourseError(WRONG_CODE.format(code=code))
    if joined is None:
        raise CourseError(NO_CLASS.format(address=address))
    if earlier:
        earlier.send("leave")  # otherwise the class would count one learner twice
    start = progress.stat().st_size if progress.exists() else 0
    membership = Membership(address, code, name, start, joined.secret, joined.name)
    write_file(file, json.dumps(asdict(membership)), mode=0o600)
    return membership


def read_membership(file: Path | None) -> Membership | None:
    """Read the membership that a file keeps, if there is one."""
    if file is None:
        return None
    try:
        return Membership(**json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None


def welcome_note(membership: Membership) -> Feedback:
    """Say under which name a learner is in a class, and what it is sent."""
    return note("✓", f"You are in the class as {membership.name}", [SENT, "To leave: `leave()`"])


def post(url: str, content: Any, reply_type: Any, secret: str = "") -> Reply:
    """Send JSON to a class; parse the content of its reply as a value of a type.

    It goes past the system's proxy, which does not reach a computer in this room. A reply of
    anything but a class, such as a proxy's own, is none.
    """
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        address = urlsplit(url)
        connection_type = {"http": HTTPConnection, "https": HTTPSConnection}[address.scheme]
        with closing(connection_type(address.netloc, timeout=TIMEOUT_SECONDS)) as connection:
            connection.request("POST", address.path, json.dumps(content), headers)
            response = connection.getresponse()
            if class_protocol.CLASS_HEADER not in response.headers:
                return Reply(None, None)
            if response.status != 200:
                return Reply(response.status, None)
            return Reply(200, read_json(reply_type, response.read()))
    except (KeyError, OSError, HTTPException, ValueError):  # no address, or nobody there
        return Reply(None, None)


# --- sending verdicts


def take_part(file: Path | None) -> "Sender | None":
    """Send this kernel's verdicts, and show news under its checks, if its learner has joined.

    Called again, it returns the thread that does so already.
    """
    membership, shell = read_membership(file), get_ipython()
    is_grading = SEED_VARIABLE in os.environ
    if file is None or membership is None or shell is None or is_grading:
        return None
    return _start_taking_part(file, membership, shell)


@cache
def _start_taking_part(file: Path, membership: Membership, shell: Any) -> "Sender":
    sender = Sender(file, membership)
    sender.start()
    shell.events.register("post_run_cell", NewsUnderChecks(sender, shell).after_cell)
    return sender


class Sender(threading.Thread):
    """Sends what is added to the progress file, for as long as the learner is in the class.

    That file is the queue. Several kernels may send the same verdict: the server takes it once.
    """

    def __init__(self, file: Path, membership: Membership) -> None:
        super().__init__(daemon=True)
        self.file, self.membership = file, membership
        self.news: class_protocol.News | None = None  # from the last reply
        self.newest_ballot: Ballot | None = None  # in this notebook; it shows the next round too

    def run(self) -> None:
        """Send new verdicts at once, and otherwise ask for news now and then."""
        progress = self.file.with_name("progress.jsonl")
        start = self.membership.progress_start
        is_reached = False
        next_time = time.monotonic()
        while self._is_member():
            verdicts, end = read_verdicts(progress, start)
            if time.monotonic() >= next_time or (verdicts and is_reached):
                status, self.news = self.membership.send("events", events=verdicts)
                is_reached = status in (200, 400)  # taken, or in a form that is never taken
                if is_reached:
                    start = end
                    self._show_next_round()
                elif status == 403 and self._is_member():
                    self.file.unlink(missing_ok=True)  # another kernel may be as fast
                next_time = time.monotonic() + SECONDS_BETWEEN_REQUESTS
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _is_member(self) -> bool:
        return read_membership(self.file) == self.membership

    def _show_next_round(self) -> None:
        vote, ballot = self.news and self.news.vote, self.newest_ballot
        if vote and vote.is_open and ballot and vote.number > ballot.vote.number:
            ballot.show(vote)


def read_verdicts(progress: Path, start: int) -> tuple[list[dict[str, str]], int]:
    """Return the next verdicts from a position in the progress file, and the position after them.

    A position after the end means that the learner started over: then all of the file is new.
    """
    written = progress.read_bytes() if progress.exists() else b""
    position = start if start <= len(written) else 0
    verdicts: list[dict[str, str]] = []
    for line in written[position:].splitlines(keepends=True):
        if len(verdicts) == class_protocol.MAX_VERDICTS or not line.endswith(b"\n"):
            break
        with suppress(ValueError):  # a damaged line, which `Progress` skips too
            event = read_json(dict[str, str], line)
            if event.get("event") in ("tried", "correct"):
                verdict = {field: event.get(field, "") for field in SENT_FIELDS}
                verdict["key"] = f"{position}-{sha256(line).hexdigest()[:16]}"
                verdicts.append(verdict)
        position += len(line)
    return verdicts, position


# --- showing notes and votes


class NewsUnderChecks:
    """Shows what the class says, each thing once, under the next check."""

    def __init__(self, sender: Sender, shell: Any) -> None:
        self._sender, self._shell = sender, shell
        self._name = sender.membership.name
        self._shown_numbers: set[int] = set()  # of notes and votes

    def after_cell(self, result: Any) -> None:
        """Show the news if the cell is a check, and after the end of the class that it is over."""
        if not CHECK_CALL.search(result.info.raw_cell or ""):
            return
        if not self._sender.is_alive():
            self._shell.events.unregister("post_run_cell", self.after_cell)
            if not self._sender.file.exists():  # no other class has been joined
                display(note("○", OVER, []))
        elif self._sender.news:
            self._show(self._sender.news)

    def _show(self, news: class_protocol.News) -> None:
        if news.name != self._name:
            self._name = news.name
            display(note("✉", "Your teacher", [f"In the class you are now {news.name}."]))
        if news.note and self._is_first_time(news.note.number):
            display(note("✉", "Your teacher", [news.note.text]))
        if news.vote and news.vote.is_open and self._is_first_time(news.vote.number):
            ballot = self._sender.newest_ballot
            if ballot is None or ballot.vote.number != news.vote.number:
                self._sender.newest_ballot = Ballot(news.vote, self._sender.membership)
                display(self._sender.newest_ballot)

    def _is_first_time(self, number: int) -> bool:
        is_first = number not in self._shown_numbers
        self._shown_numbers.add(number)
        return is_first


class Ballot(Play):
    """The question of a vote; the choice can be changed until the vote is closed."""

    def __init__(self, vote: class_protocol.Vote, membership: Membership) -> None:
        self._membership = membership
        super().__init__([], _question(vote), layout=frame_layout())
        self.show(vote)

    def show(self, vote: class_protocol.Vote) -> None:
        """Show a vote in place of the one before."""
        self.vote, self._status = vote, ipywidgets.HTML()
        self._entry = entry(vote.options, "My vote", vote.choice)
        self._entry.observe(lambda change: self._cast(change["new"]), names="value")
        self.children = [ipywidgets.HTML(_question(vote).html), self._entry, self._status]

    def _cast(self, choice: str | None) -> None:
        if not choice:
            return
        status, _ = self._membership.send("ballot", vote=self.vote.number, choice=choice)
        text = VOTED.get(status, NOT_REACHED).format(choice=choice)
        self._status.value = render("notebook/status.html", text=text)
        if status not in VOTED:
            self._entry.value = None  # so that the same can be chosen again


def _question(vote: class_protocol.Vote) -> Feedback:
    question = to_builtins(vote)
    question["given"] = vote
    return both_forms("question", question=question, place="Vote", lesson="your class")
