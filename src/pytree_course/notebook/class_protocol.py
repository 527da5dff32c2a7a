"""The JSON that learners' notebooks and a session's server exchange, as types."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from pytree_course.observing.reading import Count

CLASS_HEADER = "Pytree-Course-Class"
"""The HTTP header of every answer of a class; the answer of a proxy does not have it."""

MAX_VERDICTS = 50  # in a request
MAX_REPLY = 1_000_000  # bytes

ShortText = Annotated[str, Meta(max_length=100)]


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
    choice: str  # this learner's letter; "" before the first choice
    counts: dict[str, Count]  # votes by letter; {} while the vote is open
    is_open: bool
    answer: str  # the right option's letter; "" until the teacher has explained it


class News(Struct, frozen=True):
    """The server's answer to each of a learner's requests."""

    name: ShortText  # of this learner; the teacher may change it
    note: Note | None
    vote: Vote | None

    @property
    def open_vote(self) -> Vote | None:
        """The vote in which learners can choose now."""
        return self.vote if self.vote and self.vote.is_open else None


class Join(Struct, frozen=True, forbid_unknown_fields=True):
    """A learner's request to join a class."""

    code: str
    name: str  # the server shortens it


class Joined(Struct, frozen=True):
    """The answer to a learner who has joined."""

    secret: ShortText
    name: ShortText


class SentVerdict(Struct, frozen=True, forbid_unknown_fields=True):
    """All that is sent of a verdict in the learner's progress."""

    key: ShortText  # the same if the verdict is sent again
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
