"""What all requests to a session's server share."""

from typing import Any

from tornado import web

from pytree_course.board.pages import Pages
from pytree_course.course import CourseError
from pytree_course.observing.reading import read_json

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Handler(web.RequestHandler):
    """What all requests share: headers, errors in one line, the secret of the learner."""

    def initialize(self, pages: Pages) -> None:
        """Take what the application was made with."""
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
