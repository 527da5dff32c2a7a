"""The server of a session: learners send what their checks found, pages show what follows."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer

from pytree_course.board.handler import HEADERS, Serving
from pytree_course.board.learners import Ballot, Events, Join, Leave
from pytree_course.board.pages import Pages
from pytree_course.board.session import Session
from pytree_course.board.teacher import News, Teacher
from pytree_course.course import CourseError

LARGEST_REQUEST = 64_000  # bytes
SLOWEST = 20  # seconds in which a request has to arrive
STATIC = Path(__file__).parent / "static"


class Static(web.StaticFileHandler):
    """The page for phones, and the scripts."""

    def set_extra_headers(self, path: str) -> None:
        """Allow what other pages are allowed."""
        for name, value in HEADERS.items():
            self.set_header(name, value)


async def serve(
    session: Session, pages: Pages, host: str, port: int, certificate: Path | None, key: Path | None
) -> None:
    """Serve a session until it is deleted.

    Raises
    ------
    CourseError
        When the certificate cannot be read, or the port is taken.
    """
    ended = asyncio.Event()
    serving = {"serving": Serving(session, pages, ended)}
    handlers: list[Any] = [
        (f"/{path}", handler, serving)
        for path, handler in (
            ("join", Join),
            ("events", Events),
            ("ballot", Ballot),
            ("leave", Leave),
            ("(board|screen|questions)", Teacher),
            ("(board|screen)/news", News),
        )
    ]
    static = {"path": STATIC, "default_filename": "phone.html"}
    app = web.Application([*handlers, (r"/(.*)", Static, static)], log_function=lambda _: None)
    try:
        encrypted = None
        if certificate:
            encrypted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            encrypted.load_cert_chain(certificate, key)
        server = HTTPServer(
            app,
            ssl_options=encrypted,
            max_body_size=LARGEST_REQUEST,
            max_header_size=LARGEST_REQUEST,
            idle_connection_timeout=SLOWEST,
            body_timeout=SLOWEST,
        )
        server.listen(port, host)
    except OSError as error:
        raise CourseError(
            f"The class cannot be served on {host}, port {port}: {error}. Name another one, such "
            f"as --port {port + 1}, or other certificate files."
        ) from error
    await ended.wait()
    server.stop()
