"""Handlers of the requests of learners and of the teacher's browser."""

import asyncio
import json
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import to_builtins
from tornado import web
from tornado.iostream import StreamClosedError

from pytree_course.board.pages import Pages
from pytree_course.board.session import id_of, visible_name
from pytree_course.course import CourseError
from pytree_course.judging.expected import Belief
from pytree_course.notebook import class_protocol
from pytree_course.observing.reading import read_json

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    class_protocol.CLASS_HEADER: "1",
}


class BaseHandler(web.RequestHandler):
    """The base of all handlers: headers, one-line errors, and the state of the session."""

    def initialize(self, pages: Pages) -> None:
        """Keep the state that all handlers share."""
        self.pages, self.session, self.room = pages, pages.session, pages.session.room

    def set_default_headers(self) -> None:
        """Allow pages what they need, and nothing from elsewhere."""
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse everything after the end."""
        if self.session.is_over:
            raise web.HTTPError(403, reason="The session is over")

    def write_error(self, status_code: int, **how: Any) -> None:
        """Answer with one line; what cannot be stored is not acknowledged."""
        if isinstance(how["exc_info"][1], CourseError):
            self.set_status(503)
        self.finish(f"{self.get_status()} {self._reason}\n")

    def read(self, kind: Any) -> Any:
        """Read the request's JSON, which is untrusted."""
        try:
            return read_json(kind, self.request.body)
        except ValueError as error:
            raise web.HTTPError(400) from error


class LearnerHandler(BaseHandler):
    """A request of a learner."""

    def learner(self) -> str:
        """Return the id of the learner whose secret comes with the request."""
        who = id_of(self.request.headers.get("Authorization", "").removeprefix("Bearer "))
        if who not in self.room.learners:
            raise web.HTTPError(403)
        self.session.count_request(who)
        return who

    def reply(self, who: str) -> None:
        """Answer with the learner's name, the teacher's note, and the vote on the projector."""
        room, question, vote = self.room, self.pages.question, None
        if room.vote and question:
            vote = class_protocol.Vote(
                room.vote.number,
                question.text,
                question.given.code,
                question.given.note,
                question.options,
                choice=room.vote.choices.get(who, ""),
                counts={} if room.vote.is_open else dict(room.vote.counts),
                is_open=room.vote.is_open,
                answer=question.letter if room.vote.is_explained else "",
            )
        note = class_protocol.Note(*room.note) if room.note else None
        self.finish(to_builtins(class_protocol.News(room.learners[who].name, note, vote)))


class JoinHandler(LearnerHandler):
    """Somebody joins."""

    def post(self) -> None:
        """Give a secret to anyone with the code."""
        asked = self.read(class_protocol.Join)
        if not secrets.compare_digest(asked.code.upper().encode(), self.room.code.encode()):
            raise web.HTTPError(403)
        self.finish(to_builtins(class_protocol.Joined(*self.session.join(asked.name))))


class EventsHandler(LearnerHandler):
    """A learner sends events, or none, to ask for news."""

    def post(self) -> None:
        """Store the events of known exercises, with the known misconceptions."""
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


class BallotHandler(LearnerHandler):
    """A learner votes."""

    def post(self) -> None:
        """Count the choice; the last one counts."""
        who, chosen = self.learner(), self.read(class_protocol.Choice)
        vote, question = self.room.vote, self.pages.question
        if not (vote and question and vote.is_open and vote.number == chosen.vote):
            raise web.HTTPError(409)
        if chosen.choice not in question.options:
            raise web.HTTPError(400)
        self.session.add(who, "voted", {"vote": chosen.vote, "choice": chosen.choice})
        self.reply(who)


class LeaveHandler(LearnerHandler):
    """A learner leaves."""

    def post(self) -> None:
        """Free the name; the events stay."""
        self.session.add(self.learner(), "left", {})


SECONDS_BETWEEN_NEWS = 0.3
SECONDS_WITHOUT_NEWS = 10  # then the minutes that went by are shown
SECONDS_TO_TELL = 30  # in which learners are told that it is over
ACTIONS = {
    "begin": {"lesson"},
    "note": {"text"},
    "take back": set(),
    "rename": {"learner", "name"},
    "remove": {"learner", "name"},
    "ask": {*Belief._fields, "case"},
    "ask again": set(),
    "close": set(),
    "explain": set(),
    "show": {*Belief._fields},
    "clear": set(),
}
"""What the teacher's buttons do, and the fields that come with it."""


class TeacherHandler(BaseHandler):
    """The teacher's pages. A link with the token opens them, once for a browser."""

    def check_token(self, token: bytes) -> None:
        """Refuse anyone without the token."""
        if not secrets.compare_digest(token, self.room.token.encode()):
            raise web.HTTPError(403, reason="Open the link that the terminal shows")

    def get(self, page: str) -> None:
        """Show a page, of the questions those of the chosen exercise and belief."""
        if token := self.request.query_arguments.get("token"):
            self.check_token(token[-1])
            # Without a path: for this server alone, also behind a proxy.
            secure = self.request.protocol == "https"
            self.set_cookie(
                "teacher", self.room.token, path="", httponly=True, samesite="Lax", secure=secure
            )
            self.redirect(page)
            return
        self.check_token((self.get_cookie("teacher") or "").encode())
        chosen = (self.get_query_argument("exercise", ""), self.get_query_argument("name", ""))
        self.finish(self.pages.whole(page, datetime.now(UTC), *chosen))

    def post(self, page: str) -> None:
        """Do the action of a button; the token comes from the page, and no other page has it."""
        self.check_token(self.request.body_arguments.pop("token", [b""])[-1])
        fields = {name: self.get_body_argument(name) for name in self.request.body_arguments}
        action = fields.pop("do", "")
        if action == "delete":
            self.session.delete()
            asyncio.get_running_loop().call_later(SECONDS_TO_TELL, self.session.may_end.set)
            self.finish("The session is deleted.\n")
            return
        if ACTIONS.get(action) != fields.keys():
            raise web.HTTPError(400)
        if "learner" in fields:
            ids = {learner.name: who for who, learner in self.room.learners.items()}
            fields["name"] = visible_name(fields["name"])
            if fields["learner"] not in ids or (action == "rename" and not fields["name"]):
                raise web.HTTPError(400, reason="Choose a learner, and write a name to rename")
            fields["learner"] = ids[fields["learner"]]
        self.session.add("", action, fields)
        self.redirect("board")


class NewsHandler(TeacherHandler):
    """The parts of a teacher's page as server-sent events, as they change."""

    async def get(self, page: str) -> None:  # type: ignore[override]
        """Send all parts, then those that have changed; a slow reader gets only the newest."""
        self.check_token((self.get_cookie("teacher") or "").encode())
        self.set_header("Content-Type", "text/event-stream")
        make = {"board": self.pages.board, "screen": self.pages.screen}[page]
        sent: dict[str, str] = {}
        with suppress(StreamClosedError):  # the page was closed
            while not self.session.is_over:
                changed = self.session.changed
                for about in self.pages.shown(datetime.now(UTC)):
                    await asyncio.to_thread(self.pages.feedback, about)
                parts = make(datetime.now(UTC))
                new = {part: html for part, html in parts.items() if sent.get(part) != html}
                self.write(f"data: {json.dumps(new)}\n\n")
                await self.flush()
                sent = parts
                await asyncio.sleep(SECONDS_BETWEEN_NEWS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), SECONDS_WITHOUT_NEWS)
            self.write("event: over\ndata: {}\n\n")
