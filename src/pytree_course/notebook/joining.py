"""A notebook in a class session: join it, send verdicts, show notes and votes."""

import os
import threading
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import ipywidgets
import segno
from IPython.core.getipython import get_ipython
from IPython.display import display
from markupsafe import Markup

from pytree_course.course import Course
from pytree_course.executed_cells import CHECK_CALL
from pytree_course.judging.feedback import both_forms, note
from pytree_course.notebook import class_protocol
from pytree_course.notebook.base import Play, frame_layout
from pytree_course.notebook.membership import (
    PROGRESS,
    Membership,
    join_class,
    read_membership,
    welcome_note,
)
from pytree_course.notebook.prediction import make_entry
from pytree_course.observing.reading import read_json
from pytree_course.rendering import Feedback, render
from pytree_course.running.outcomes import SEED_VARIABLE

SECONDS_BETWEEN_LOOKS = 0.4  # at the progress file
SECONDS_BETWEEN_REQUESTS = 3  # for news, or to a class that does not answer
SENT_FIELDS = ("lesson", "exercise", "event", "held")  # of an event in the progress file

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
