"""What of a class is shown in a notebook, and when: without a kernel or a server."""

from types import SimpleNamespace

import pytest

from pytree_course.notebook import joining
from pytree_course.notebook.class_protocol import News, Note, Vote
from pytree_course.notebook.joining import Ballot, Sender
from pytree_course.notebook.membership import Membership


class Class(Membership):
    """A class that answers with one status, and keeps what it was sent."""

    status = 200

    def send(self, path, **content):
        SENT.append((path, content))
        return self.status, None


SENT: list[tuple[str, dict[str, object]]] = []
ADA = Class("http://a", "CODE", "", 0, "secret", "Ada")


def vote(number, choice="", *, is_open=True):
    return Vote(number, "How many?", "", "", {"A": "1", "B": "2"}, choice, {}, is_open, "")


@pytest.fixture
def shown(monkeypatch):
    """Return what is displayed, as text."""
    texts = []
    monkeypatch.setattr(joining, "display", lambda it: texts.append(str(it)))
    return texts


def ran(source):
    return SimpleNamespace(info=SimpleNamespace(raw_cell=source))


def test_news_are_shown_once_under_a_check(shown, tmp_path, monkeypatch):
    sender, check = Sender(tmp_path / "joined.json", ADA), ran("check.count(count)")
    monkeypatch.setattr(sender, "is_alive", lambda: True)
    sender.show_news(check)
    sender.news = News("Ada", Note(1, "Ten minutes."), vote(1))
    sender.show_news(ran("count(1)"))
    assert shown == []
    for _ in range(2):
        sender.show_news(check)
    assert [text.split("\n")[-1] for text in shown] == ["Ten minutes.", "B. 2"]
    sender.news = News("Grace", Note(2, "Five."), vote(2, is_open=False))
    sender.show_news(check)
    assert shown[2].endswith("In the class you are now Grace.") and shown[3].endswith("Five.")
    sender.news = News("Grace", Note(2, "Five."), vote(3))
    sender._show_next_round()  # in the ballot that is there
    sender.show_news(check)
    assert (len(shown), sender.newest_ballot.vote.number) == (4, 3)


@pytest.mark.parametrize(
    ("status", "said", "kept"),
    [
        (200, "Your vote is A. You can change it", "A"),
        (403, "The class is over: A does not count", "A"),
        (409, "The vote is closed: A does not count", "A"),
        (None, "cannot be reached: A does not count", None),
        (500, "cannot be reached: A does not count", None),
    ],
)
def test_a_choice_is_sent_and_can_be_made_again_if_it_did_not_arrive(
    monkeypatch, status, said, kept
):
    monkeypatch.setattr(Class, "status", status)
    SENT.clear()
    ballot = Ballot(vote(7, "B"), ADA)
    _, entry, answer = ballot.children
    assert entry.value == "B"
    entry.value = "A"
    assert SENT == [("ballot", {"vote": 7, "choice": "A"})]
    assert said in answer.value and entry.value == kept
