"""The JSON that learners' notebooks and a session's server exchange, as types."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from pytree_course.observing.reading import Count

CLASS_HEADER = "Pytree-Course-Class"
"""The HTTP header of all of a class's own answers; a proxy's answer has it not."""

MAX_VERDICTS = 50  # in a request


class Note(Struct, frozen=True):
    """The teacher's note to everyone."""

    number: int
    text: str


class Vote(Struct, frozen=True):
    """The question on the projector, and its result once the vote is closed."""

    number: int
    text: str
    code: str
    note: str
    options: dict[str, str]  # by letter
    choice: str  # this learner's so far; may be empty
    counts: dict[str, Count]  # of votes, by letter; {} while open
    is_open: bool
    answer: str  # the right option's letter, once the teacher has explained it


class News(Struct, frozen=True):
    """The server's answer to each of a learner's requests."""

    name: str  # of this learner; the teacher may change it
    note: Note | None
    vote: Vote | None


class Join(Struct, frozen=True, forbid_unknown_fields=True):
    """A learner's request to join a class."""

    code: str
    name: str  # the server shortens it


class Joined(Struct, frozen=True):
    """The answer to a learner who has joined."""

    secret: str
    name: str


class SentVerdict(Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict of the learner's progress: nothing else about it is sent."""

    key: Annotated[str, Meta(max_length=100)]  # the same whenever it is sent again
    lesson: str
    exercise: str
    event: Literal["tried", "correct"]
    held: str  # names of misconceptions, joined with "; "


class SentVerdicts(Struct, frozen=True, forbid_unknown_fields=True):
    """A learner's verdicts, oldest first."""

    events: Annotated[tuple[SentVerdict, ...], Meta(max_length=MAX_VERDICTS)] = ()


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """A learner's choice in a vote."""

    vote: Count
    choice: str
