"""The web server of a session: learners post the results of their checks, pages show them."""

import logging
import ssl
import sys
from collections.abc import Collection
from pathlib import Path
from socket import socket
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer
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

MAX_REQUEST = 64_000  # bytes
SLOWEST = 20  # seconds in which a request has to arrive
MAX_OF_ONE_ADDRESS = 128  # open connections; on a hub, all learners may have one address
_MAX_LINE = 200


class OneLine(logging.Handler):
    """Print each of Tornado's log messages as one line of printable characters."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message; a traceback would hold what was requested, too."""
        print(printable(truncate(record.getMessage(), _MAX_LINE)), file=sys.stderr)


class Server(HTTPServer):
    """A server that keeps only some connections of one address: the oldest idle ones go."""

    def initialize(self, *arguments: Any, **options: Any) -> None:
        """Begin without connections."""
        super().initialize(*arguments, **options)
        self._addresses: dict[IOStream, str] = {}  # of open connections, the oldest first

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Accept a connection, where its address has too many in place of its oldest idle one."""
        here = str(address[0])
        self._addresses = {
            other: place for other, place in self._addresses.items() if not other.closed()
        }
        others = [other for other, place in self._addresses.items() if place == here]
        if len(others) >= MAX_OF_ONE_ADDRESS:
            next(filter(_is_idle, others), stream).close()
        if not stream.closed():
            self._addresses[stream] = here
            super().handle_stream(stream, address)


def _is_idle(stream: IOStream) -> bool:
    """Return whether a connection sends no request, does not take its answer, or has just come."""
    return bool(stream.reading() or stream.writing() or not stream._total_write_done_index)


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
        max_body_size=MAX_REQUEST,
        max_header_size=MAX_REQUEST,
        idle_connection_timeout=SLOWEST,
        body_timeout=SLOWEST,
    )
    server.add_sockets(sockets)
    await pages.session.may_end.wait()
    server.stop()
