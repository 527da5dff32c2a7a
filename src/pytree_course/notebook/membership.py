"""A learner's membership of a class: join it, keep it in a file, ask its server."""

import json
import socket
import threading
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytree_course.course import Course, CourseError
from pytree_course.judging.feedback import note
from pytree_course.notebook import class_protocol
from pytree_course.observing.reading import read_json
from pytree_course.rendering import Feedback
from pytree_course.texts import write_file

TIMEOUT_SECONDS = 5  # for a connection, and then for the exchange
PROGRESS = "progress.jsonl"  # beside the file with the membership

SENT = (
    "With each check, your teacher gets the exercise, the verdict, the names of reasons, the "
    "number of tries and the time; in a vote, your choice. Your code and answers are never sent."
)
WRONG_CODE = "The class does not know the code {code!r}: copy it once more."
NO_CLASS = (
    "No class answers at {address}. Copy the whole address once more: it looks like "
    "http://10.0.0.5:8910. Is this computer in the same network as your teacher's?"
)


@dataclass(frozen=True)
class Membership:
    """A learner's membership of a class."""

    address: str
    code: str
    chosen_name: str  # "" if the server made up a name
    progress_start: int  # a position in the progress file: only what follows is sent
    secret: class_protocol.ShortText  # by which the server knows the learner
    name: class_protocol.ShortText

    def send(self, path: str, **content: Any) -> tuple[int | None, class_protocol.News | None]:
        """Send a request as this learner; return the status and the news, as `post` does."""
        return post(f"{self.address}/{path}", content, class_protocol.News, self.secret)

    def ask_news(self) -> class_protocol.News | None:
        """Return the news, or None if the class does not answer or does not know the learner."""
        _, news = self.send("events", events=[])
        return news


def join_class(course: Course, address: str, code: str, name: str) -> Membership:
    """Join a class for all kernels of a course; joining it again changes nothing."""
    file = course.joined_file
    if file is None:
        raise CourseError("There is no learner here who could join a class.")
    address = address.rstrip("/")
    earlier = read_membership(file)
    if earlier:
        is_same = (earlier.address, earlier.code, earlier.chosen_name) == (address, code, name)
        if is_same and earlier.ask_news():
            return earlier
    request = {"code": code, "name": name}
    status, joined = post(f"{address}/join", request, class_protocol.Joined, secret="")
    if status == 403:
        raise CourseError(WRONG_CODE.format(code=code))
    if joined is None:
        raise CourseError(NO_CLASS.format(address=address))
    if earlier:
        earlier.send("leave")  # otherwise the class would count one learner twice
    progress = file.with_name(PROGRESS)
    start = progress.stat().st_size if progress.exists() else 0
    membership = Membership(address, code, name, start, joined.secret, joined.name)
    write_file(file, json.dumps(asdict(membership)), mode=0o600)
    return membership


def read_membership(file: Path) -> Membership | None:
    """Read the file with a learner's membership; return None if there is none, or it is damaged.

    It is read before each cell, in each notebook: an error here would be shown under every cell.
    """
    try:
        membership: Membership = read_json(Membership, file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return membership


def welcome_note(membership: Membership) -> Feedback:
    """Tell a learner their name in the class, and what is sent to the teacher."""
    return note("✓", f"You are in the class as {membership.name}", [SENT, "To leave: `leave()`"])


def post(url: str, content: Any, reply_type: Any, secret: str) -> tuple[int | None, Any]:
    """Send JSON to a class; return the status and the content of its reply, parsed as a type.

    The status is None if no class replied; the content is None unless the status is 200.
    The request bypasses the system's proxy, which cannot reach a computer in this room. A reply
    that is not a class's, such as a network's page to log in, does not count as a reply, and
    neither does one that is too long or takes too long.
    """
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        address = urlsplit(url)
        connection_type = {"http": HTTPConnection, "https": HTTPSConnection}[address.scheme]
        with closing(connection_type(address.netloc, timeout=TIMEOUT_SECONDS)) as connection:
            connection.connect()
            # The socket's own timeout begins again with each byte that arrives.
            shut_down = partial(connection.sock.shutdown, socket.SHUT_RDWR)
            timer = threading.Timer(TIMEOUT_SECONDS, shut_down)
            timer.daemon = True
            timer.start()
            try:
                connection.request("POST", address.path, json.dumps(content), headers)
                response = connection.getresponse()
                if class_protocol.CLASS_HEADER not in response.headers:
                    return None, None
                if response.status != 200:
                    return response.status, None
                return 200, read_json(reply_type, response.read(class_protocol.MAX_REPLY))
            finally:
                timer.cancel()
    except (KeyError, OSError, HTTPException, ValueError):  # an invalid address, or nobody answers
        return None, None
