"""The server of a session: learners send what their checks found, pages show what follows."""

import ssl
from collections.abc import Collection
from pathlib import Path
from socket import socket
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from pytree_course.board.handler import HEADERS
from pytree_course.board.learners import Ballot, Events, Join, Leave
from pytree_course.board.pages import Pages
from pytree_course.board.teacher import News, Teacher
from pytree_course.course import CourseError

LARGEST_REQUEST = 64_000  # bytes
SLOWEST = 20  # seconds in which a request has to arrive


class Static(web.StaticFileHandler):
    """The page for phones, and the scripts."""

    def set_extra_headers(self, path: str) -> None:
        """Allow what other pages are allowed."""
        for name, value in HEADERS.items():
            self.set_header(name, value)


def listening(
    host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> tuple[list[socket], ssl.SSLContext | None]:
    """Open a port, a free one for 0, and read the files for https, before anybody is told of it.

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
            ("join", Join),
            ("events", Events),
            ("ballot", Ballot),
            ("leave", Leave),
            ("(board|screen|questions)", Teacher),
            ("(board|screen)/news", News),
        )
    ]
    static = {"path": Path(__file__).parent / "static", "default_filename": "phone.html"}
    app = web.Application([*handlers, (r"/(.*)", Static, static)], log_function=lambda _: None)
    server = HTTPServer(
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
