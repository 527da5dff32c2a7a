"""The web server of a session: learners post the results of their checks, pages show them."""

import asyncio
import logging
import secrets
import ssl
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from socket import socket
from typing import Any

from msgspec import to_builtins
from tornado import web
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets

from pytree_course.board.pages import Pages
from pytree_course.board.session import MAX_SENT, clean_name, id_from_secret
from pytree_course.course import CourseError
from pytree_course.judging.expected import Belief
from pytree_course.notebook import class_protocol
from pytree_course.observing.reading import read_json
from pytree_course.texts import printable, truncate

MAX_REQUEST = 64_000  # bytes
MAX_REQUEST_SECONDS = 20  # in which a request has to arrive
MAX_LINE = 200  # characters of a log message
MAX_FILES = 10_240  # open at once; macOS allows no more
OTHER_FILES = 60  # that are not connections: the log, scripts, templates
SECONDS_TO_TELL = 30  # after the end: learners and open pages are told that the session is over

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    class_protocol.CLASS_HEADER: "1",
}
"""The headers of every answer: pages may load from this server alone."""

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
"""The actions of the teacher's buttons, with the fields that come with each."""


class _HeadersHandler(web.RequestHandler):
    """The base of all handlers."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)


class _SessionHandler(_HeadersHandler):
    """A handler with the state of the session; an error's answer is one line."""

    status_when_over = 403

    def initialize(self, pages: Pages) -> None:
        self.pages = pages
        self.session = pages.session
        self.room = pages.session.room

    def prepare(self) -> None:
        if self.session.over.is_set():
            raise web.HTTPError(self.status_when_over, reason="The session is over")

    def write_error(self, status_code: int, **details: Any) -> None:
        # After status 500, notebooks and phones send again what was not stored.
        self.finish(f"{status_code} {self._reason}\n")


class _LearnerHandler(_SessionHandler):
    """A request of a learner, from a notebook or a phone."""

    def read(self, content_type: Any) -> Any:
        """Parse the request's JSON, which is untrusted."""
        try:
            return read_json(content_type, self.request.body)
        except ValueError as error:
            raise web.HTTPError(400) from error

    def authenticate(self) -> str:
        """Return the id of the learner whose secret comes with the request."""
        secret = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        learner_id = id_from_secret(secret)
        if learner_id not in self.room.learners:
            raise web.HTTPError(403)
        return learner_id

    def store(self, learner_id: str, key: str, kind: str, data: dict[str, Any]) -> None:
        """Store a check or a vote, unless the learner has sent it already, or too many of them."""
        learner = self.room.learners[learner_id]
        if learner.sent >= MAX_SENT:
            message = f"{learner.name} has sent {MAX_SENT:,} checks and votes: no more are stored"
            raise web.HTTPError(429, message)
        self.session.add_once(learner_id, key, kind, data)

    def finish_with_news(self, learner_id: str) -> None:
        """Answer with the learner's name, the teacher's note, and the current vote."""
        name = self.room.learners[learner_id].name
        news = class_protocol.News(name, self.room.note, self._make_vote(learner_id))
        self.finish(to_builtins(news))

    def _make_vote(self, learner_id: str) -> class_protocol.Vote | None:
        """Return the vote as this learner may see it: without its result until it is closed."""
        vote, question = self.room.vote, self.pages.question
        if not vote or not question:
            return None
        return class_protocol.Vote(
            vote.number,
            question.text,
            question.given.code,
            question.given.note,
            question.options,
            choice=vote.choices.get(learner_id, ""),
            counts={} if vote.is_open else dict(vote.counts),
            is_open=vote.is_open,
            answer=question.letter if vote.is_explained else "",
        )


class _JoinHandler(_LearnerHandler):
    """Gives a secret to anyone who knows the code."""

    def post(self) -> None:
        request = self.read(class_protocol.Join)
        if not secrets.compare_digest(request.code.upper().encode(), self.room.code.encode()):
            raise web.HTTPError(403)
        secret, name = self.session.join(request.name)
        self.finish(to_builtins(class_protocol.Joined(secret, name)))


class _EventsHandler(_LearnerHandler):
    """Stores verdicts on known exercises, with known misconceptions; a request may have none."""

    def post(self) -> None:
        learner_id = self.authenticate()
        for verdict in self.read(class_protocol.SentVerdicts).events:
            lesson = self.pages.lessons.get(verdict.lesson)
            if lesson is None or verdict.exercise not in lesson.exercises:
                continue
            misconceptions = lesson.expected(verdict.exercise).misconceptions
            known_names = {misconception.name for misconception in misconceptions}
            data = {
                "lesson": verdict.lesson,
                "exercise": verdict.exercise,
                "is_right": verdict.event == "correct",
                "misconceptions": sorted(known_names.intersection(verdict.held.split("; "))),
            }
            self.store(learner_id, f"sent {verdict.key}", "checked", data)
        self.finish_with_news(learner_id)


class _BallotHandler(_LearnerHandler):
    """Stores a choice in the open vote; a learner's last one counts."""

    def post(self) -> None:
        learner_id = self.authenticate()
        ballot = self.read(class_protocol.Choice)
        vote, question = self.room.vote, self.pages.question
        if not vote or not question or not vote.is_open or vote.number != ballot.vote:
            raise web.HTTPError(409)
        if ballot.choice not in question.options:
            raise web.HTTPError(400)
        data = {"vote": ballot.vote, "choice": ballot.choice}
        self.store(learner_id, secrets.token_hex(8), "voted", data)
        self.finish_with_news(learner_id)


class _LeaveHandler(_LearnerHandler):
    """Lets a learner leave: others can take the name, and the log keeps the verdicts."""

    def post(self) -> None:
        self.session.add(self.authenticate(), "left", {})


class _TeacherHandler(_SessionHandler):
    """A request of the teacher's browser, which has the token as a cookie."""

    def check_cookie(self) -> None:
        """Refuse a browser that was never given the link."""
        self.check_token((self.get_cookie("teacher") or "").encode())

    def check_token(self, token: bytes) -> None:
        """Refuse anyone without the token."""
        if not secrets.compare_digest(token, self.room.token.encode()):
            raise web.HTTPError(403, reason="Open the link that the terminal shows")


class _PageHandler(_TeacherHandler):
    """The board, with its buttons, and the projector's page."""

    def get(self, page: str) -> None:
        """Show a page; a link with the token first sets the cookie."""
        if token := self.request.query_arguments.get("token"):
            self.check_token(token[-1])
            # Without a path: for this server alone, also behind a proxy.
            is_secure = self.request.protocol == "https"
            self.set_cookie(
                "teacher", self.room.token, path="", httponly=True, samesite="Lax", secure=is_secure
            )
            self.redirect(page)
            return
        self.check_cookie()
        self.finish(self.pages.render_frame(page))

    def post(self, page: str) -> None:
        """Do a button's action; the form has the token, so that no other site can send it."""
        self.check_token(self.request.body_arguments.pop("token", [b""])[-1])
        fields = {name: self.get_body_argument(name) for name in self.request.body_arguments}
        action = fields.pop("do", "")
        if action == "delete":
            self.session.delete()
            self.finish("The session is deleted.\n")
            return
        if ACTIONS.get(action) != fields.keys():
            raise web.HTTPError(400)
        if action in ("rename", "remove"):
            fields = self._with_learner_id(action, fields["learner"], clean_name(fields["name"]))
        self.session.add("", action, fields)
        self.redirect("board")

    def _with_learner_id(self, action: str, name: str, new_name: str) -> dict[str, str]:
        """Return the fields to rename or to remove the learner who has a name."""
        ids = {learner.name: learner_id for learner_id, learner in self.room.learners.items()}
        if name not in ids or (action == "rename" and not new_name):
            raise web.HTTPError(400, reason="Choose a learner, and write a name to rename")
        return {"learner_id": ids[name], "name": new_name}


class _QuestionsHandler(_TeacherHandler):
    """The list of questions, which its form limits to an exercise or a misconception."""

    def get(self) -> None:
        self.check_cookie()
        exercise = self.get_query_argument("exercise", "")
        misconception = self.get_query_argument("name", "")
        self.finish(self.pages.render_questions(exercise, misconception))


class _PartsHandler(_TeacherHandler):
    """All parts of a page as they are now, in JSON; the page's script polls them."""

    status_when_over = 410  # the page tells it from the 403 of a wrong cookie

    async def get(self, page: str) -> None:
        self.check_cookie()
        # Feedback can take a second to make: not in this thread, which serves everybody.
        for belief in self.pages.find_beliefs_with_feedback():
            await asyncio.to_thread(self.pages.feedback, belief)
        render_parts = {"board": self.pages.render_board, "screen": self.pages.render_screen}[page]
        self.finish(render_parts(datetime.now(UTC)))


class _StaticHandler(_HeadersHandler, web.StaticFileHandler):
    """The page for phones, and the scripts."""


class _OneLineHandler(logging.Handler):
    """Prints a log message as one printable line, without its traceback: it has the request.

    A line that repeats is printed again, with a count, after 10 times, 100 times, and so on.
    """

    def __init__(self) -> None:
        super().__init__()
        self._line, self._count = "", 0

    def emit(self, record: logging.LogRecord) -> None:
        line = printable(truncate(record.getMessage(), MAX_LINE))
        self._count = self._count + 1 if line == self._line else 1
        self._line = line
        if self._count == 1:
            print(line, file=sys.stderr)
        elif str(self._count).strip("0") == "1":
            print(f"{line} ({self._count:,} times)", file=sys.stderr)


class _Server(HTTPServer):
    """Closes the connection that has been silent for longest before files run out.

    Otherwise Tornado would try in vain, and without a pause, to accept the next one, and a single
    client that keeps connections open would shut out all others.
    """

    def initialize(self, *arguments: Any, **options: Any) -> None:
        super().initialize(*arguments, **options)
        self._max_connections = _raise_file_limit() - OTHER_FILES
        self._streams: dict[IOStream, None] = {}  # the one that has been silent for longest first

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        if len(self._streams) >= self._max_connections:
            longest_silent = next(iter(self._streams))
            del self._streams[longest_silent]
            longest_silent.close()
        self._streams[stream] = None
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> Any:
        if server_conn.stream in self._streams:
            self._streams[server_conn.stream] = self._streams.pop(server_conn.stream)
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: Any) -> None:
        self._streams.pop(server_conn.stream, None)
        super().on_close(server_conn)


def _raise_file_limit() -> int:
    """Let this process open as many files as the system allows; return how many."""
    if sys.platform == "win32":
        return 512  # sockets that `select` can wait for
    import resource

    unlimited = resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MAX_FILES if hard == unlimited else min(hard, MAX_FILES)
    if soft != unlimited and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def listen(
    host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> tuple[list[socket], ssl.SSLContext | None]:
    """Open a port (any free one for 0), and load the certificate.

    Raise CourseError if the port is taken, or the certificate cannot be read.
    """
    try:
        encryption = None
        if certificate:
            encryption = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            encryption.load_cert_chain(certificate, key)
        return bind_sockets(port, host), encryption
    except OSError as error:
        raise CourseError(
            f"The class cannot be served on {host}, port {port}: {error}. Name another one, such "
            f"as --port {port + 1}, or other certificate files."
        ) from error


async def serve(
    pages: Pages, sockets: Collection[socket], encryption: ssl.SSLContext | None
) -> None:
    """Serve a session until it is deleted."""
    state = {"pages": pages}
    static = {"path": Path(__file__).parent / "static", "default_filename": "phone.html"}
    handlers: list[Any] = [
        ("/join", _JoinHandler, state),
        ("/events", _EventsHandler, state),
        ("/ballot", _BallotHandler, state),
        ("/leave", _LeaveHandler, state),
        ("/(board|screen)", _PageHandler, state),
        ("/(board|screen)/news", _PartsHandler, state),
        ("/questions", _QuestionsHandler, state),
        ("/(.*)", _StaticHandler, static),
    ]
    for name in ("tornado", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_OneLineHandler()], False
    server = _Server(
        web.Application(handlers, log_function=lambda _: None),
        ssl_options=encryption,
        max_body_size=MAX_REQUEST,
        max_header_size=MAX_REQUEST,
        idle_connection_timeout=MAX_REQUEST_SECONDS,
        body_timeout=MAX_REQUEST_SECONDS,
    )
    server.add_sockets(sockets)
    await pages.session.over.wait()
    await asyncio.sleep(SECONDS_TO_TELL)
    server.stop()
