"""What learners' notebooks and a session's server send each other, as JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

MOST_EVENTS = 50  # in a request
Word = Annotated[str, 100]
Text = Annotated[str, 4_000]


@dataclass(frozen=True)
class Note:
    """What the teacher says to everyone."""

    number: int
    text: Text


@dataclass(frozen=True)
class Vote(Note):
    """What the teacher asks everyone, for as long as they may vote."""

    code: Text
    note: Text
    options: Annotated[dict[str, Text], 10]  # by letter
    choice: Text  # this learner's so far; may be empty


@dataclass(frozen=True)
class News:
    """What there is to know for a learner."""

    note: Note | None
    vote: Vote | None


@dataclass(frozen=True)
class Joined:
    """What a learner who has joined is told."""

    secret: Text
    name: Text


@dataclass(frozen=True)
class Sent:
    """A verdict of the learner's progress: no more of it is sent than this."""

    key: Word  # the same whenever it is sent again
    time: datetime  # by the learner's clock
    lesson: Word
    exercise: Word
    event: Word  # "tried" or "correct"
    held: Annotated[str, 2_000]  # the names of misconceptions, with "; " between them


@dataclass(frozen=True)
class Choice:
    """A learner's choice in a vote."""

    vote: int
    choice: Word
