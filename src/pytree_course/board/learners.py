"""What learners send: each request names the learner's secret, and is answered with the news."""

import secrets

from msgspec import to_builtins
from tornado import web

from pytree_course.board.handler import Handler
from pytree_course.board.session import id_of
from pytree_course.notebook import class_protocol
from pytree_course.notebook.class_protocol import Choice, Joined, News, Note, Vote


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
        room, question, vote = self.room, self.pages.question, None
        if room.vote and room.vote.is_open and question:
            given, choice = question.given, room.vote.choices.get(who, "")
            shown = (question.text, given.code, given.note, question.options, choice)
            vote = Vote(room.vote.number, *shown)
        self.finish(to_builtins(News(Note(*room.note) if room.note else None, vote)))


class Join(Learner):
    """Somebody joins."""

    def post(self) -> None:
        """Give a secret to who knows the code."""
        asked = self.read(class_protocol.Join)
        if not secrets.compare_digest(asked.code.upper().encode(), self.room.code.encode()):
            raise web.HTTPError(403)
        self.finish(to_builtins(Joined(*self.session.join(asked.name))))


class Events(Learner):
    """A learner sends events, or none, to hear what is new."""

    def post(self) -> None:
        """Store those of exercises and misconceptions that are known here."""
        who = self.learner()
        for sent in self.read(class_protocol.Events).events:
            lesson = self.pages.lessons.get(sent.lesson)
            is_known = lesson is not None and sent.exercise in lesson.exercises
            if lesson and is_known and sent.event in ("tried", "correct"):
                known = {each.name for each in lesson.expected(sent.exercise).misconceptions}
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
