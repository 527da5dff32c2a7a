"""The teacher's pages: the board, the projector's page and the questions, behind a token."""

import asyncio
import json
import secrets
from contextlib import suppress
from datetime import UTC, datetime

from tornado import web
from tornado.iostream import StreamClosedError

from pytree_course.board.handler import Handler
from pytree_course.judging.expected import Belief

SECONDS_BETWEEN_NEWS = 0.3
SECONDS_WITHOUT_NEWS = 10  # then the minutes that went by are shown
SECONDS_TO_TELL = 30  # in which learners are told that it is over
ACTIONS = {
    "begin": {"lesson"},
    "note": {"text"},
    "ask": {*Belief._fields},
    "ask again": set(),
    "close": set(),
    "explain": set(),
    "show": {*Belief._fields},
    "clear": set(),
}
"""What the teacher's buttons do, and the fields that come with it."""


class Teacher(Handler):
    """The teacher's pages. A link with the token opens them, once for a browser."""

    def check_token(self, token: bytes) -> None:
        """Refuse anyone without the token."""
        if not secrets.compare_digest(token, self.room.token.encode()):
            raise web.HTTPError(403, reason="Open the link that the terminal shows")

    def get(self, page: str) -> None:
        """Show a page."""
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
        self.finish(self.pages.whole(page, datetime.now(UTC)))

    def post(self, page: str) -> None:
        """Do what a button says. The token comes from the page itself, and no other page has it."""
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
        self.session.add("", action, fields)
        self.redirect("board")


class News(Teacher):
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
