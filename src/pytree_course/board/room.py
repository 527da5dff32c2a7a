"""The state of a session: who is here, what each is at, and what the teacher shows or asks."""

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pytree_course.board.log import Event
from pytree_course.judging.expected import Belief

_IN_NAMES = " -'’.,()&+_"
# Letters and marks that show nothing: fillers of Hangul, vowels of Khmer, selectors of variants.
_SHOW_NOTHING = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0} | {
    *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def visible_name(name: str) -> str:
    """Return the letters, marks, digits and usual signs of a name, without what cannot be seen."""
    return "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", name)
        if letter.isspace() or letter in _IN_NAMES or unicodedata.category(letter)[0] in "LMN"
        if ord(letter) not in _SHOW_NOTHING
    )


@dataclass
class Work:
    """What a learner did in an exercise."""

    tries: int = 0  # wrong checks before the first right one
    alike: int = 0  # how many of the last checks were wrong for the same reasons
    held: list[str] = field(default_factory=list)  # the misconceptions that the last check showed
    is_solved: bool = False
    time: datetime | None = None  # of the last check


@dataclass
class Learner:
    """A learner in the room."""

    name: str
    work: dict[tuple[str, str], Work] = field(default_factory=dict)  # by lesson and exercise

    def at(self, lesson: str, exercise: str) -> Work:
        """Return what was done in an exercise."""
        return self.work.get((lesson, exercise), Work())


@dataclass
class Vote:
    """A vote on a question, open or closed; and the one before it, if this is a second round."""

    number: int
    about: Belief
    before: "Vote | None"
    choices: dict[str, str] = field(default_factory=dict)  # letters, by learner
    is_open: bool = True
    is_explained: bool = False

    @property
    def counts(self) -> Counter[str]:
        """How many chose each letter."""
        return Counter(self.choices.values())


class Room:
    """What follows from the events of a session, taken one after the other."""

    def __init__(self) -> None:
        self.code = self.token = ""  # the class joins with one, the teacher's pages ask the other
        self.learners: dict[str, Learner] = {}  # those who are here, by their id
        self.lesson = ""  # that the board shows
        self.began: datetime | None = None  # when that lesson did
        self.note: tuple[int, str] | None = None  # the last one, with its number
        self.vote: Vote | None = None  # the last one
        self.shown: Belief | None = None  # on the projector

    def take(self, event: Event) -> None:
        """Take account of an event."""
        data, learner = event.data, self.learners.get(event.who)
        match event.what:
            case "opened":
                self.code, self.token = data["code"], data["token"]
            case "joined":
                self.learners[event.who] = Learner(self._free_name(data["name"]))
                self.began = self.began or event.time
            case "left":
                self.learners.pop(event.who, None)
            case "checked" if learner:
                self.lesson = self.lesson or data["lesson"]
                _count(learner, data, event.time)
            case "voted" if learner and self.vote and self.vote.number == data["vote"]:
                self.vote.choices[event.who] = data["choice"]
            case "begin":
                self.lesson, self.began = data["lesson"], event.time
            case "note":
                self.note = (event.number, data["text"])
            case "ask":
                self.vote, self.shown = Vote(event.number, Belief(**data), None), None
            case "ask again" if self.vote:
                self.vote = Vote(event.number, self.vote.about, self.vote)
            case "close" if self.vote:
                self.vote.is_open = False
            case "explain" if self.vote:
                self.vote.is_open, self.vote.is_explained = False, True
            case "show":
                self.vote, self.shown = None, Belief(**data)
            case "clear":
                self.vote = self.shown = None

    def _free_name(self, name: str) -> str:
        """Return a name that no other learner has, so that nobody passes for somebody else."""
        names = {unicodedata.normalize("NFKC", each.name) for each in self.learners.values()}
        free, number = name, 2
        while unicodedata.normalize("NFKC", free) in names:
            free, number = f"{name} ({number})", number + 1
        return free


def _count(learner: Learner, data: dict[str, Any], time: datetime) -> None:
    work = learner.work.setdefault((data["lesson"], data["exercise"]), Work())
    is_right, held = data["is_right"], data["held"]
    work.tries += not is_right and not work.is_solved
    work.alike = 0 if is_right else work.alike + 1 if held == work.held else 1
    work.is_solved |= is_right
    work.held, work.time = held, time
