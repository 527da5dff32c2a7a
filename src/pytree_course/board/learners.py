"""What learners send: each request names the learner's secret, and is answered with the news."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from tornado import web

from pytree_course.board.handler import Handler
from pytree_course.board.session import id_of

Word = Annotated[str, 100]


@dataclass(frozen=True)
class Name:
    """Who wants to join."""

    code: Word
    name: Word


@dataclass(frozen=True)
class Sent:
    """An event of the learner's progress, as it is sent."""

    key: Word
    time: datetime  # by the learner's clock
    lesson: Word
    exercise: Word
    event: Word
    held: Annotated[str, 2_000]


@dataclass(frozen=True)
class Batch:
    """What one request holds."""

    events: Annotated[list[Sent], 50]


@dataclass(frozen=True)
class Choice:
    """A learner's choice in a vote."""

    vote: int
    choice: Word


class Learner(Handler):
    """A request of a learner."""

    def learner(self) -> str:
        """Return whose secret comes with the request."""
        who = id_of(self.request.headers.get("Authorization", "").removeprefix("Bearer "))
        if who not in self.room.learners:
            raise web.HTTPError(403)
        self.session.count_request(who)
        return who

    def reply(self, who: str) -> None:
        """Answer with the teacher's note, and with the vote that is open."""
        note, vote, question = self.room.note, self.room.vote, self.pages.question
        open_vote = None
        if vote and question and vote.is_open:
            open_vote = {
                "number": vote.number,
                "text": question.text,
                "code": question.given.code,
                "note": question.given.note,
                "options": question.options,
                "choice": vote.choices.get(who, ""),
            }
        self.finish(
            {"note": {"number": note[0], "text": note[1]} if note else None, "vote": open_vote}
        )


class Join(Learner):
    """Somebody joins."""

    def post(self) -> None:
        """Give a secret to who knows the code."""
        asked = self.read(Name)
        if not secrets.compare_digest(asked.code.upper().encode(), self.room.code.encode()):
            raise web.HTTPError(403)
        secret, name = self.session.join(asked.name)
        self.finish({"secret": secret, "name": name})


class Events(Learner):
    """A learner sends events, or none, to hear what is new."""

    def post(self) -> None:
        """Store those of exercises and misconceptions that are known here."""
        who = self.learner()
        for sent in self.read(Batch).events:
            lesson = self.pages.lessons.get(sent.lesson)
            exercise = lesson.exercises.get(sent.exercise) if lesson else None
            if exercise and sent.event in ("tried", "correct"):
                known = {each.name for each in exercise.misconceptions}
                data = {
                    "time": sent.time.isoformat(),
                    "lesson": sent.lesson,
                    "exercise": sent.exercise,
                    "is_right": sent.event == "correct",
                    "held": sorted(known.intersection(sent.held.split("; "))),
                }
                self.session.add(who, "checked", data, f"sent {sent.key}")
        self.reply(who)


class Ballot(Learner):
    """A learner votes."""

    def post(self) -> None:
        """Count the choice; the last one counts."""
        who, chosen = self.learner(), self.read(Choice)
        vote, question = self.room.vote, self.pages.question
        if not (vote and question and vote.is_open and vote.number == chosen.vote):
            raise web.HTTPError(409)
        if chosen.choice not in question.options:
            raise web.HTTPError(400)
        self.session.add(who, "voted", {"vote": chosen.vote, "choice": chosen.choice})
        self.reply(who)


class Leave(Learner):
    """A learner leaves."""

    def post(self) -> None:
        """Let go of the name; what was sent stays."""
        self.session.add(self.learner(), "left", {})
