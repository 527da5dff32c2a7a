"""The web server of a session: learners post the results of their checks, pages show them."""

import logging
import ssl
import sys
import time
from collections.abc import Collection
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets

from pytree_course.board.handlers import (
    HEADERS,
    BallotHandler,
    EventsHandler,
    JoinHandler,
    LeaveHandler,
    NewsHandler,
    TeacherHandler,
)
from pytree_course.board.pages import Pages
from pytree_course.course import CourseError
from pytree_course.texts import printable, truncate

LARGEST_REQUEST = 64_000  # bytes
SLOWEST = 20  # seconds in which a request has to arrive, and some of the answer has to be taken
SECONDS_BETWEEN_LOOKS = 2
MOST_OF_ONE_ADDRESS = 128  # open connections; on a hub, all learners may have one address
_LONGEST_LINE = 200


class OneLine(logging.Handler):
    """Print each of Tornado's log messages as one line of printable characters."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message; a traceback would hold what was requested, too."""
        print(printable(truncate(record.getMessage(), _LONGEST_LINE)), file=sys.stderr)


class Connection(NamedTuple):
    """An open connection, as it was when it was last looked at."""

    address: str
    taken: int  # bytes that its client has read
    since: float  # when it had read that many


def _is_idle(stream: IOStream) -> bool:
    """Return whether a connection waits for a request, or has had no answer yet."""
    return bool(stream.reading() or not stream._total_write_done_index)


class Server(HTTPServer):
    """A server that closes stalled connections, and keeps only some of one address."""

    def initialize(self, *arguments: Any, **options: Any) -> None:
        """Prepare to look after the connections."""
        super().initialize(*arguments, **options)
        self._open: dict[IOStream, Connection] = {}
        self._looks = PeriodicCallback(self._close_stuck, 1_000 * SECONDS_BETWEEN_LOOKS)
        self._looks.start()

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Accept a connection; if its address has too many, close that which is idle longest."""
        self._open = {other: seen for other, seen in self._open.items() if not other.closed()}
        here = str(address[0])
        others = [other for other, seen in self._open.items() if seen.address == here]
        if len(others) >= MOST_OF_ONE_ADDRESS:
            idle = [other for other in others if _is_idle(other)]
            closed = min(idle, key=lambda other: self._open[other].since, default=stream)
            closed.close()
        if not stream.closed():
            self._open[stream] = Connection(here, 0, time.monotonic())
            super().handle_stream(stream, address)

    def _close_stuck(self) -> None:
        """Close the connections whose clients have read nothing for too long."""
        now = time.monotonic()
        for stream, seen in [*self._open.items()]:
            taken = stream._total_write_done_index
            if taken != seen.taken:
                self._open[stream] = Connection(seen.address, taken, now)
            elif stream.writing() and now - seen.since > SLOWEST:
                stream.close()

    def stop(self) -> None:
        """Take no more connections."""
        super().stop()
        self._looks.stop()


class Static(web.StaticFileHandler):
    """The page for phones, and the scripts."""

    def prepare(self) -> None:
        """Refuse a path that cannot be a file name."""
        if "\0" in self.path_args[0]:
            raise web.HTTPError(404)

    def set_extra_headers(self, path: str) -> None:
        """Send the same headers as other pages."""
        for name, value in HEADERS.items():
            self.set_header(name, value)


def listening(
    host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> tuple[list[socket], ssl.SSLContext | None]:
    """Open a port (any free one for 0) and load the certificate, before the address is announced.

    Raises
    ------
    CourseError
        When the certificate cannot be read, or the port is taken.
    """
    try:
        encrypted = None
        if certificate:
            encrypted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            encrypted.load_cert_chain(certificate, key)
        return bind_sockets(port, host), encrypted
    except OSError as error:
        raise CourseError(
            f"The class cannot be served on {host}, port {port}: {error}. Name another one, such "
            f"as --port {port + 1}, or other certificate files."
        ) from error


async def serve(
    pages: Pages, sockets: Collection[socket], encrypted: ssl.SSLContext | None
) -> None:
    """Serve a session until it is deleted."""
    handlers: list[Any] = [
        (f"/{path}", handler, {"pages": pages})
        for path, handler in (
            ("join", JoinHandler),
            ("events", EventsHandler),
            ("ballot", BallotHandler),
            ("leave", LeaveHandler),
            ("(board|screen|questions)", TeacherHandler),
            ("(board|screen)/news", NewsHandler),
        )
    ]
    static = {"path": Path(__file__).parent / "static", "default_filename": "phone.html"}
    app = web.Application([*handlers, (r"/(.*)", Static, static)], log_function=lambda _: None)
    for name in ("tornado", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [OneLine()], False
    server = Server(
        app,
        ssl_options=encrypted,
        max_body_size=LARGEST_REQUEST,
        max_header_size=LARGEST_REQUEST,
        idle_connection_timeout=SLOWEST,
        body_timeout=SLOWEST,
    )
    server.add_sockets(sockets)
    await pages.session.may_end.wait()
    server.stop()
