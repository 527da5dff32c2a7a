"""A finding: what is known of a wrong answer, as data. `finding_words` makes sentences of them."""

from msgspec import Struct, field

from pytree_course.observing.reading import Count


class Finding(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is true of a wrong answer in every case in which it speaks.

    It holds nothing that was expected in a case: those of grading stay secret.
    """

    kind: str  # a key of `finding_words.SENTENCES`
    subject: str  # "result", "leaf", "argument", "error" or "line"
    holds: list[Count]  # the failing cases that it is true of, from 0
    fails: list[Count]  # the failing cases that it is not true of
    data: dict[str, str] = field(default_factory=dict)  # what the sentence is filled with

    @property
    def what(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """What is found, whatever the cases: equal for equal findings on other cases."""
        return self.kind, self.subject, tuple(sorted(self.data.items()))
