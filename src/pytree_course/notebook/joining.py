"""The learner's side of a class session: join it, send verdicts, show its notes and votes."""

import json
import os
import random
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import ipywidgets
import segno
from IPython.core.getipython import get_ipython
from IPython.display import display
from markupsafe import Markup
from msgspec import to_builtins

from pytree_course.course import Course, CourseError, write_file
from pytree_course.ipython import CHECK_CALL
from pytree_course.judging.feedback import both_forms, note
from pytree_course.notebook.base import Play, frame_layout
from pytree_course.notebook.class_protocol import MOST_EVENTS, Joined, News, Sent, Vote
from pytree_course.notebook.prediction import entry
from pytree_course.observing.reading import read_json
from pytree_course.rendering import Feedback, render
from pytree_course.running.outcomes import SEED_VARIABLE

LOOKS_EVERY, ASKS_EVERY, LONGEST_PAUSE, PATIENCE = 0.4, 3, 15, 5  # seconds
MOST_BYTES = 200_000  # of an answer
NO_ANSWER = 0  # in the place of an HTTP status


@dataclass(frozen=True)
class Membership:
    """Where a learner has joined, and by which secret the server knows them."""

    address: str
    code: str
    asked: str  # the name that the learner chose; empty if one was made up
    place: int  # in the progress file: what is before it is not sent
    secret: str
    name: str

    def ask(self, path: str = "events", **content: Any) -> tuple[int, News | None]:
        """Send something as this learner; return the status, and the news if it is 200."""
        return post(f"{self.address}/{path}", content or {"events": []}, News, self.secret)


def read_membership(kept: Path | None) -> Membership | None:
    """Read the membership that a file keeps, if there is one."""
    with suppress(FileNotFoundError):
        return Membership(**json.loads(kept.read_bytes())) if kept else None
    return None


def post(url: str, content: Any, kind: Any, secret: str = "") -> tuple[int, Any]:
    """Send JSON; return the HTTP status, or `NO_ANSWER`, and the answer as a value of a type."""
    answers: Queue[tuple[int, Any]] = Queue()
    # A server that sends a byte now and then would never exceed the timeout of a single read.
    send = partial(_post, url, content, kind, secret)
    threading.Thread(target=lambda: answers.put(send()), daemon=True).start()
    with suppress(Empty):
        return answers.get(timeout=PATIENCE)
    return NO_ANSWER, None


def _post(url: str, content: Any, kind: Any, secret: str) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        request = Request(url, json.dumps(content).encode(), headers)
        with urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, read_json(kind, answer.read(MOST_BYTES))
    except HTTPError as error:
        return error.code, None
    except (OSError, HTTPException, ValueError):  # no server, another one, or no address
        return NO_ANSWER, None


class Sender(threading.Thread):
    """Sends what is added to the progress file, for as long as the learner is in the class.

    That file is the queue. Several kernels may send the same event: the server takes it once.
    """

    def __init__(self, kept: Path, membership: Membership) -> None:
        super().__init__(daemon=True)
        self.kept, self.membership = kept, membership
        self.news: News | None = None

    def run(self) -> None:
        """Send what is new at once, otherwise ask for news; pause while nobody answers."""
        place, pause, next_time = self.membership.place, 0.0, time.monotonic()
        while read_membership(self.kept) == self.membership:
            events, place_after = events_after(place, self.kept.with_name("progress.jsonl"))
            if time.monotonic() >= next_time or (events and not pause):
                status, self.news = self.membership.ask(events=events)
                if status in (200, 400):  # taken, or in a form that is never taken
                    place, pause = place_after, 0.0
                    self._open_next_round()
                elif status == 403 and read_membership(self.kept) == self.membership:
                    self.kept.unlink()
                else:
                    pause = min(2 * pause or 1.0, LONGEST_PAUSE)
                # Not all learners come back at the same moment.
                wait = pause * random.uniform(0.5, 1) if pause else ASKS_EVERY
                next_time = time.monotonic() + wait
            time.sleep(LOOKS_EVERY)

    def _open_next_round(self) -> None:
        vote, newest = self.news and self.news.vote, Ballot.newest
        if vote and vote.is_open and newest and vote.number > newest.vote.number:
            newest.follow(vote)


def events_after(place: int, progress: Path) -> tuple[list[dict[str, str]], int]:
    """Return the next verdicts after a place of the progress file, and the place after them."""
    written = progress.read_bytes() if progress.exists() else b""
    place = place if place <= len(written) else 0  # the learner began anew
    events: list[dict[str, str]] = []
    for line in written[place:].splitlines(keepends=True):
        if len(events) == MOST_EVENTS or not line.endswith(b"\n"):
            break
        with suppress(ValueError):  # a damaged line, which `Progress` skips too
            event = read_json(dict[str, str], line)
            if event.get("event") in ("tried", "correct"):
                key = f"{place}-{sha256(line).hexdigest()[:16]}"
                sent = {name: event.get(name, "") for name in Sent.__struct_fields__}
                events.append(sent | {"key": key})
        place += len(line)
    return events, place


SENT = (
    "With each check, your teacher gets the exercise, the verdict, the names of reasons, the "
    "number of tries and the time; in a vote, your choice. Your code and answers are never sent."
)
HOW_TO_LEAVE = "To leave: `leave()`"
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
RENAMED = "In the class you are now {name}."

_sender: Sender | None = None


def join(address: str, code: str, name: str = "") -> Feedback:
    """Join a class: from now on it gets your verdicts, and never your code."""
    joined = enter(Course.find(), address, code, name)
    go_on(Course.find().joined_file)
    known = read_membership(Course.find().joined_file)
    if known is None:
        return joined
    link = f"{known.address}/#{known.secret}"
    qr = segno.make(link).svg_inline(omitsize=True, light="#fff")
    phone = render("notebook/phone.html", qr=Markup(qr))
    return Feedback(
        joined.html + phone, f"{joined.text}\nOn your phone, as the same learner: {link}"
    )


def enter(course: Course, address: str, code: str, name: str) -> Feedback:
    """Join a class for all kernels of a course; the same once more changes nothing."""
    kept, progress, address = course.joined_file, course.progress_file, address.rstrip("/")
    if kept is None or progress is None:
        raise CourseError("There is no learner here who could join a class.")
    known = read_membership(kept)
    asked = (address, code, name)
    if not known or (known.address, known.code, known.asked) != asked or not known.ask()[1]:
        status, joined = post(f"{address}/join", {"code": code, "name": name}, Joined)
        if joined is None:
            refusal = REFUSED.get(status, NO_CLASS)
            raise CourseError(refusal.format(address=address, code=code))
        place = progress.stat().st_size if progress.exists() else 0
        if known:
            known.ask("leave")  # there is one learner here
        known = Membership(*asked, place, joined.secret, joined.name)
        write_file(kept, json.dumps(asdict(known)), mode=0o600)
    return note("✓", f"You are in the class as {known.name}", [SENT, HOW_TO_LEAVE])


def leave() -> Feedback:
    """Leave the class: nothing is sent any more."""
    kept = Course.find().joined_file
    known = read_membership(kept)
    if kept and known:
        kept.unlink(missing_ok=True)
        known.ask("leave")
    return note("○", "You are in no class. Nothing is sent.", [])


def vote() -> Play | Feedback:
    """Show the open vote, if there is one."""
    known = read_membership(Course.find().joined_file)
    news = known and known.ask()[1]
    if known and news and news.vote and news.vote.is_open:
        return Ballot(news.vote, known)
    return note("○", "There is no open vote, or no class that answers.", [])


class Ballot(Play):
    """The question of a vote; the choice can be changed until the vote is closed.

    When the teacher opens another round, the newest ballot of a notebook shows it.
    """

    newest: "Ballot | None" = None

    def __init__(self, vote: Vote, membership: Membership) -> None:
        self.vote, self._membership = vote, membership
        self._status = ipywidgets.HTML()
        static = self._question()
        super().__init__([], static, layout=frame_layout())
        self._show_vote()
        Ballot.newest = self

    def follow(self, vote: Vote) -> None:
        """Show another vote in place of this one."""
        self.vote, self._status.value = vote, ""
        self._show_vote()

    def _question(self) -> Feedback:
        question = {**to_builtins(self.vote), "given": self.vote}
        return both_forms("question", question=question, place="Vote", lesson="your class")

    def _show_vote(self) -> None:
        self._entry = entry(self.vote.options, "My vote", self.vote.choice)
        self._entry.observe(lambda change: self._cast(change["new"]), names="value")
        self.children = [ipywidgets.HTML(self._question().html), self._entry, self._status]

    def _cast(self, choice: str | None) -> None:
        if not choice:
            return
        status, _ = self._membership.ask("ballot", vote=self.vote.number, choice=choice)
        text = VOTED.get(status, NOT_REACHED).format(choice=choice)
        self._status.value = render("notebook/status.html", text=text)
        if status not in VOTED:
            self._entry.value = None  # so that the same can be chosen again


def go_on(kept: Path | None) -> None:
    """Send from this kernel too, if its learner has joined, and show news under its checks."""
    global _sender
    known, shell = read_membership(kept), get_ipython()
    if not kept or not known or not shell or SEED_VARIABLE in os.environ:
        return
    if _sender is None or _sender.membership != known:
        _sender = Sender(kept, known)
        _sender.start()
        _show_under_checks(_sender, shell)


def _show_under_checks(sender: Sender, shell: Any) -> None:
    shown_numbers: set[int] = set()
    name = [sender.membership.name]

    def after_cell(result: Any) -> None:
        if not CHECK_CALL.search(result.info.raw_cell or ""):
            return
        if not sender.is_alive():
            shell.events.unregister("post_run_cell", after_cell)
            if not sender.kept.exists():
                display(note("○", OVER, []))
            return
        if not sender.news:
            return
        if sender.news.name != name[-1]:
            name.append(sender.news.name)
            display(note("✉", "Your teacher", [RENAMED.format(name=name[-1])]))
        for news in (sender.news.note, sender.news.vote):
            if news and news.number not in shown_numbers and getattr(news, "is_open", True):
                shown_numbers.add(news.number)
                if not isinstance(news, Vote):
                    display(note("✉", "Your teacher", [news.text]))
                elif not Ballot.newest or Ballot.newest.vote.number != news.number:
                    display(Ballot(news, sender.membership))

    shell.events.register("post_run_cell", after_cell)
