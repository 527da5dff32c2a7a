"""The server of a class as a learner's side knows it: real HTTP, killed and started at will."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pytree_course.notebook.class_protocol import CLASS_HEADER

CODE = "K7PM3Q"
QUESTION = {
    "number": 7,
    "text": "How many leaves does JAX see here?",
    "code": "[1, None]",
    "note": "",
    "options": {"A": "`1`", "B": "`2`"},
    "choice": "",
    "counts": {},
    "is_open": True,
    "answer": "",
}
PATIENCE = 60  # seconds, for what takes a moment


def wait_for(condition):
    """Wait until something is so; it takes a moment, and on a busy machine longer."""
    end = time.monotonic() + PATIENCE
    while not (met := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return met


@dataclass
class Room:
    """A class's server, and what has reached it; it can be killed and started again."""

    names: dict = field(default_factory=dict)  # of learners, by their secrets
    joined: int = 0  # learners, those who left too
    events: dict = field(default_factory=dict)  # by learner and key, as they came
    received: int = 0  # events, those that came again too
    ballots: list = field(default_factory=list)
    news: dict = field(default_factory=lambda: {"note": None, "vote": None})
    refuses: int = 0  # the status of every answer, if it is not 0
    refused: int = 0  # requests
    proxy_says: bytes = b""  # a proxy's page in the place of every answer
    swallows: int = 0  # of so many requests the answer gets lost
    port: int = 0

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def kill(self):
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def verdicts(self):
        return [(each["exercise"], each["event"]) for each in self.events.values()]

    def answer(self, path, secret, content):
        """Return status and answer of a request, as the protocol says."""
        if self.refuses:
            self.refused += 1
            return self.refuses, {}
        if path == "/join":
            if content["code"] != CODE:
                return 403, {}
            secret = f"secret {self.joined}"
            self.joined += 1
            self.names[secret] = content["name"] or "quiet otter"
            return 200, {"secret": secret, "name": self.names[secret]}
        if secret not in self.names:
            return 403, {}
        if path == "/events":
            assert len(content["events"]) <= 50
            for event in content["events"]:
                self.received += 1
                self.events.setdefault((secret, event["key"]), event)
        elif path == "/ballot":
            if self.news["vote"] is None:
                return 409, {}
            self.ballots.append((content["vote"], content["choice"]))
        elif path == "/leave":
            del self.names[secret]
        return 200, {"name": self.names.get(secret, ""), **self.news}

    def _handler(room):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                secret = self.headers["Authorization"].removeprefix("Bearer ")
                status, said = room.answer(self.path, secret, json.loads(self.rfile.read(length)))
                if room.swallows:
                    room.swallows -= 1
                    return  # the connection ends without an answer
                self.send_response(status)
                if not room.proxy_says:
                    self.send_header(CLASS_HEADER, "1")
                self.end_headers()
                self.wfile.write(room.proxy_says or json.dumps(said).encode())

            def log_message(self, *_):
                pass

        return Handler
