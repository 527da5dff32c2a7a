"""A learner's membership of a class: what its server is sent, and what it answers."""

import json
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pytree_course.notebook.class_protocol import MOST_EVENTS, News, Sent
from pytree_course.observing.reading import read_json

LOOKS_EVERY, ASKS_EVERY, LONGEST_PAUSE, PATIENCE = 0.4, 3, 15, 5  # seconds
MOST_BYTES = 200_000  # of an answer
NO_ANSWER = 0  # in the place of an HTTP status


@dataclass(frozen=True)
class Membership:
    """Where a learner has joined, and by which secret the server knows them."""

    address: str
    code: str
    asked: str  # the name that the learner chose; empty if one was made up
    place: int  # in the progress file: what is before it is not sent
    secret: str
    name: str

    def ask(self, path: str = "events", **content: Any) -> tuple[int, News | None]:
        """Send something as this learner; return the status, and the news if it is 200."""
        return post(f"{self.address}/{path}", content or {"events": []}, News, self.secret)


def read_membership(kept: Path | None) -> Membership | None:
    """Read the membership that a file keeps, if there is one."""
    with suppress(FileNotFoundError):
        return Membership(**json.loads(kept.read_bytes())) if kept else None
    return None


def post(url: str, content: Any, kind: Any, secret: str = "") -> tuple[int, Any]:
    """Send JSON; return the HTTP status, or `NO_ANSWER`, and the answer as a value of a type."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    try:
        request = Request(url, json.dumps(content).encode(), headers)
        with urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, read_json(kind, answer.read(MOST_BYTES))
    except HTTPError as error:
        return error.code, None
    except (OSError, HTTPException, ValueError):  # nobody, or something else
        return NO_ANSWER, None


class Sender(threading.Thread):
    """Sends what is added to the progress file, for as long as the learner is in the class.

    That file is the queue. Several kernels may send the same event: the server takes it once.
    """

    def __init__(self, kept: Path, membership: Membership) -> None:
        super().__init__(daemon=True)
        self.kept, self.membership = kept, membership
        self.news: News | None = None

    def run(self) -> None:
        """Send what is new at once, otherwise ask for news; pause while nobody answers."""
        place, pause, next_time = self.membership.place, 0.0, time.monotonic()
        while read_membership(self.kept) == self.membership:
            events, place_after = events_after(place, self.kept.with_name("progress.jsonl"))
            if time.monotonic() >= next_time or (events and not pause):
                status, self.news = self.membership.ask(events=events)
                if status in (200, 400):  # taken, or in a form that is never taken
                    place, pause = place_after, 0.0
                elif status == 403 and read_membership(self.kept) == self.membership:
                    self.kept.unlink()
                else:
                    pause = min(2 * pause or 1.0, LONGEST_PAUSE)
                # Not all learners come back at the same moment.
                wait = pause * random.uniform(0.5, 1) if pause else ASKS_EVERY
                next_time = time.monotonic() + wait
            time.sleep(LOOKS_EVERY)


def events_after(place: int, progress: Path) -> tuple[list[dict[str, str]], int]:
    """Return the next verdicts after a place of the progress file, and the place after them."""
    written = progress.read_bytes() if progress.exists() else b""
    place = place if place <= len(written) else 0  # the learner began anew
    events: list[dict[str, str]] = []
    for line in written[place:].splitlines(keepends=True):
        if len(events) == MOST_EVENTS or not line.endswith(b"\n"):
            break
        with suppress(ValueError):  # a damaged line, which `Progress` skips too
            event = read_json(dict[str, str], line)
            if event.get("event") in ("tried", "correct"):
                key = f"{place}-{sha256(line).hexdigest()[:16]}"
                sent = {name: event.get(name, "") for name in Sent.__struct_fields__}
                events.append(sent | {"key": key})
        place += len(line)
    return events, place
