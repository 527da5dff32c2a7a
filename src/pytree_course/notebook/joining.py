"""The client side of a class session: join it, send verdicts, show notes and votes."""

import json
import os
import socket
import threading
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
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

from pytree_course.course import Course, CourseError
from pytree_course.executed_cells import CHECK_CALL
from pytree_course.judging.feedback import both_forms, note
from pytree_course.notebook import class_protocol
from pytree_course.notebook.base import Play, frame_layout
from pytree_course.notebook.prediction import make_entry
from pytree_course.observing.reading import read_json
from pytree_course.rendering import Feedback, render
from pytree_course.running.outcomes import SEED_VARIABLE
from pytree_course.texts import write_file

SECONDS_BETWEEN_LOOKS = 0.4  # at the progress file
SECONDS_BETWEEN_REQUESTS = 3  # for news, or to a class that does not answer
TIMEOUT_SECONDS = 5  # for a connection, and then for the exchange
PROGRESS = "progress.jsonl"  # beside the file with the membership
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
NO_LETTER = "Run `vote()` without a letter, and choose in the question that it shows."
UNREADABLE = (
    "You are in no class: {file} cannot be read. Nothing is sent. Join your class again, or run "
    "`leave()`."
)
OVER = (
    "You are in no class any more: it is over, you left it, or your teacher removed you. "
    "Nothing is sent."
)


# --- what notebooks call


def join(address: str, code: str, name: str = "") -> Feedback:
    """Join a class: from now on it gets your verdicts, but never your code."""
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
    membership = read_membership(file) if file else None
    if file:
        file.unlink(missing_ok=True)
    if membership:
        membership.send("leave")
    return note("○", "You are in no class. Nothing is sent.", [])


def vote(choice: object = None) -> Play | Feedback:
    """Show the open vote, if there is one; the choice is made in what it shows."""
    if choice is not None:
        return note("○", NO_LETTER, [])
    sender = take_part(Course.of_notebook().joined_file)
    news = sender.membership.ask_news() if sender else None
    if sender is None or news is None or news.open_vote is None:
        return note("○", "There is no open vote, or no class that answers.", [])
    return sender.make_ballot(news.open_vote)


# --- joining


@dataclass(frozen=True)
class Membership:
    """A learner's membership of a class."""

    address: str
    code: str
    chosen_name: str  # "" if the server made up a name
    progress_start: int  # a position in the progress file: only what follows is sent
    secret: class_protocol.ShortText  # by which the server knows the learner
    name: class_protocol.ShortText

    def send(self, path: str, **content: Any) -> tuple[int | None, class_protocol.News | None]:
        """Send a request as this learner; return the status and the news, as `post` does."""
        return post(f"{self.address}/{path}", content, class_protocol.News, self.secret)

    def ask_news(self) -> class_protocol.News | None:
        """Return the news, or None if the class does not answer or does not know the learner."""
        _, news = self.send("events", events=[])
        return news


def join_class(course: Course, address: str, code: str, name: str) -> Membership:
    """Join a class for all kernels of a course; joining it again changes nothing."""
    file = course.joined_file
    if file is None:
        raise CourseError("There is no learner here who could join a class.")
    address = address.rstrip("/")
    earlier = read_membership(file)
    if earlier:
        is_same = (earlier.address, earlier.code, earlier.chosen_name) == (address, code, name)
        if is_same and earlier.ask_news():
            return earlier
    request = {"code": code, "name": name}
    status, joined = post(f"{address}/join", request, class_protocol.Joined, secret="")
    if status == 403:
        raise CourseError(WRONG_CODE.format(code=code))
    if joined is None:
        raise CourseError(NO_CLASS.format(address=address))
    if earlier:
        earlier.send("leave")  # otherwise the class would count one learner twice
    progress = file.with_name(PROGRESS)
    start = progress.stat().st_size if progress.exists() else 0
    membership = Membership(address, code, name, start, joined.secret, joined.name)
    write_file(file, json.dumps(asdict(membership)), mode=0o600)
    return membership


def read_membership(file: Path) -> Membership | None:
    """Read the file with a learner's membership; return None if there is none, or it is damaged.

    It is read before each cell, in each notebook: an error here would be shown under every cell.
    """
    try:
        membership: Membership = read_json(Membership, file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return membership


def welcome_note(membership: Membership) -> Feedback:
    """Tell a learner their name in the class, and what is sent to the teacher."""
    return note("✓", f"You are in the class as {membership.name}", [SENT, "To leave: `leave()`"])


def post(url: str, content: Any, reply_type: Any, secret: str) -> tuple[int | None, Any]:
    """Send JSON to a class; return the status and the content of its reply, parsed as a type.

    The status is None if no class replied; the content is None unless the status is 200.
    The request bypasses the system's proxy, which cannot reach a computer in this room. A reply
    that is not a class's, such as a network's page to log in, does not count as a reply, and
    neither does one that is too long or takes too long.
    """
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        address = urlsplit(url)
        connection_type = {"http": HTTPConnection, "https": HTTPSConnection}[address.scheme]
        with closing(connection_type(address.netloc, timeout=TIMEOUT_SECONDS)) as connection:
            connection.connect()
            # The socket's own timeout begins again with each byte that arrives.
            shut_down = partial(connection.sock.shutdown, socket.SHUT_RDWR)
            timer = threading.Timer(TIMEOUT_SECONDS, shut_down)
            timer.daemon = True
            timer.start()
            try:
                connection.request("POST", address.path, json.dumps(content), headers)
                response = connection.getresponse()
                if class_protocol.CLASS_HEADER not in response.headers:
                    return None, None
                if response.status != 200:
                    return response.status, None
                return 200, read_json(reply_type, response.read(class_protocol.MAX_REPLY))
            finally:
                timer.cancel()
    except (KeyError, OSError, HTTPException, ValueError):  # an invalid address, or nobody answers
        return None, None


# --- sending verdicts


def take_part(file: Path | None) -> "Sender | None":
    """If the learner has joined, send this kernel's verdicts, and show news under its checks.

    Return the thread that does so, or None; further calls start no other thread.
    """
    shell = get_ipython()
    is_grading = SEED_VARIABLE in os.environ
    if file is None or shell is None or is_grading:
        return None
    membership = read_membership(file)
    if membership:
        return _start_sender(file, membership, shell)
    if file.exists():
        _tell_that_unreadable(file)
    return None


@cache
def _tell_that_unreadable(file: Path) -> None:
    """Say, once in a kernel, that the file with the learner's membership is damaged."""
    display(note("○", UNREADABLE.format(file=file.name), []))


@cache
def _start_sender(file: Path, membership: Membership, shell: Any) -> "Sender":
    sender = Sender(file, membership)
    sender.start()
    shell.events.register("post_run_cell", sender.show_news)
    return sender


class Sender(threading.Thread):
    """Sends verdicts that are added to the progress file while the learner is in the class.

    That file is the queue. Several kernels may send the same verdict: the server stores it once.
    Its replies bring the teacher's notes, a new name and votes, each shown once, under a check.
    """

    def __init__(self, file: Path, membership: Membership) -> None:
        super().__init__(daemon=True)
        self.file, self.membership = file, membership
        self.news: class_protocol.News | None = None  # from the last reply
        self.newest_ballot: Ballot | None = None  # in this notebook; it shows later rounds too
        self._shown_name, self._shown_note = membership.name, 0  # the note's number

    def run(self) -> None:
        """Send new verdicts at once; without new ones, ask for news every few seconds."""
        position = self.membership.progress_start
        is_reached = False
        next_time = time.monotonic()
        while self._is_member():
            verdicts, end = read_verdicts(self.file.with_name(PROGRESS), position)
            is_due = time.monotonic() >= next_time
            if is_due or (verdicts and is_reached):
                status, self.news = self.membership.send("events", events=verdicts)
                next_time = time.monotonic() + SECONDS_BETWEEN_REQUESTS
                is_reached = status in (200, 400)  # stored, or refused for good
                if is_reached:
                    position = end
                elif status == 403 and self._is_member():
                    self.file.unlink(missing_ok=True)  # another kernel may have removed it
                self._show_next_round()
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _is_member(self) -> bool:
        return read_membership(self.file) == self.membership

    def _show_next_round(self) -> None:
        vote = self.news.open_vote if self.news else None
        ballot = self.newest_ballot
        if vote and ballot and vote.number > ballot.vote.number:
            ballot.show(vote)

    def show_news(self, result: Any) -> None:
        """Show the news if the cell is a check; once the class is over, say so and stop."""
        if not CHECK_CALL.search(result.info.raw_cell or ""):
            return
        news = self.news
        if not self.is_alive():
            shell: Any = get_ipython()
            shell.events.unregister("post_run_cell", self.show_news)
            if not self.file.exists():  # no other class has been joined
                display(note("○", OVER, []))
        elif news:
            if news.name != self._shown_name:
                self._shown_name = news.name
                display(note("✉", "Your teacher", [f"In the class you are now {news.name}."]))
            if news.note and news.note.number != self._shown_note:
                self._shown_note = news.note.number
                display(note("✉", "Your teacher", [news.note.text]))
            vote, ballot = news.open_vote, self.newest_ballot
            if vote and (ballot is None or ballot.vote.number != vote.number):
                display(self.make_ballot(vote))

    def make_ballot(self, vote: class_protocol.Vote) -> "Ballot":
        """Make the notebook's newest ballot."""
        self.newest_ballot = Ballot(vote, self.membership)
        return self.newest_ballot


def read_verdicts(progress: Path, start: int) -> tuple[list[dict[str, str]], int]:
    """Return the next verdicts from a position in the progress file, and the position after them.

    A position after the end means that the learner started over: then the whole file is new.
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


# --- votes


class Ballot(Play):
    """A vote's question; the learner can change the choice until the vote is closed."""

    def __init__(self, vote: class_protocol.Vote, membership: Membership) -> None:
        self._membership = membership
        super().__init__([], _describe(vote), layout=frame_layout())
        self.show(vote)

    def show(self, vote: class_protocol.Vote) -> None:
        """Show a vote instead of the previous one."""
        self.vote = vote
        self._status = ipywidgets.HTML()
        self._entry = make_entry(vote.options, "My vote", vote.choice)
        self._entry.observe(lambda change: self._cast(change["new"]), names="value")
        self.children = [ipywidgets.HTML(_describe(vote).html), self._entry, self._status]

    def _cast(self, choice: str | None) -> None:
        if not choice:
            return  # the choice was cleared
        status, _ = self._membership.send("ballot", vote=self.vote.number, choice=choice)
        text = VOTED.get(status, NOT_REACHED).format(choice=choice)
        self._status.value = render("notebook/status.html", text=text)
        if status not in VOTED:
            self._entry.value = None  # so that the same option can be chosen again


def _describe(vote: class_protocol.Vote) -> Feedback:
    question = {"text": vote.text, "given": vote, "options": vote.options}
    return both_forms("question", question=question, place="Vote", lesson="your class")
