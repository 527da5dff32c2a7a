"""A learner in a class: what is sent, when, and what of the class is seen in a notebook."""

import json
import socket
import stat
from contextlib import ExitStack, contextmanager

import pytest

from pytree_course.course import CourseError
from pytree_course.learner.progress import Progress
from pytree_course.notebook import joining
from pytree_course.notebook.class_protocol import Sent
from pytree_course.notebook.joining import Sender, read_membership
from tests.class_server import CODE, PATIENCE, QUESTION, Room, wait_for
from tests.kernels import running_kernel
from tests.made_submissions import RIGHT


@pytest.fixture
def room(monkeypatch):
    """Start a class on a campus whose systems name a proxy, which does not reach it."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    room = Room()
    room.start()
    yield room
    room.kill()


@pytest.fixture
def quick(monkeypatch):
    """Let no test wait for what a learner does not notice."""
    for name in ("LOOKS_EVERY", "ASKS_EVERY"):
        monkeypatch.setattr(joining, name, 0.01)


@contextmanager
def sender(course):
    """Send in this process what a kernel would send."""
    thread = Sender(course.joined_file, read_membership(course.joined_file))
    thread.start()
    yield thread
    course.joined_file.unlink(missing_ok=True)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def check(course, *verdicts):
    """Write into the progress file as checks do."""
    progress = Progress.load(course.progress_file)
    for exercise, event in verdicts:
        progress.add("01_mini", exercise, event, ["counts_elements"] if event == "tried" else [])


TRIED, SOLVED = ("count_leaves", "tried"), ("count_leaves", "correct")


# --- joining


def test_who_joins_is_told_the_name_what_is_sent_and_how_to_leave(room, course):
    shown = str(joining.welcome(joining.enter(course, room.address + "/", CODE, "")))
    assert "You are in the class as quiet otter" in shown
    for said in ("exercise", "verdict", "reasons", "tries", "time", "never sent", "leave()"):
        assert said in shown
    kept = read_membership(course.joined_file)
    assert (kept.address, kept.secret) == (room.address, "secret 0")
    assert stat.S_IMODE(course.joined_file.stat().st_mode) == 0o600


NO_ADDRESSES = ("10.0.0.5:8910", "file:///etc/passwd", "http://[", "the teacher", "")


@pytest.mark.parametrize(
    ("address", "code", "status", "said"),
    [
        ("{room}", "WRONG", 0, "does not know the code 'WRONG'"),
        ("{room}", CODE, 429, "wait a minute"),
        ("{room}", CODE, 500, "No class answers at http://127"),
        ("http://127.0.0.1:{closed}", CODE, 0, "No class answers at http://127"),
        *((address, CODE, 0, "it looks like http://10.0.0.5:8910") for address in NO_ADDRESSES),
    ],
)
def test_who_cannot_join_is_told_what_to_do_and_nothing_changes(
    room, course, address, code, status, said
):
    joining.enter(course, room.address, CODE, "Ada")
    before = course.joined_file.read_bytes()
    room.refuses = status
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        address = address.format(room=room.address, closed=closed.getsockname()[1])
        with pytest.raises(CourseError, match=said):
            joining.enter(course, address, code, "Grace")
    assert course.joined_file.read_bytes() == before


def test_another_name_joins_anew_and_the_same_cell_run_again_does_not(room, course):
    for name in ("", "", "Grace", "Grace"):
        joining.enter(course, room.address, CODE, name)
    assert [*room.names.values()] == ["Grace"]  # quiet otter has left
    assert room.joined == 2
    room.names.clear()  # the next class
    assert joining.enter(course, room.address, CODE, "Grace").name == "Grace"
    assert [*room.names.values()] == ["Grace"]


@pytest.mark.parametrize("variable", ["PYTREE_COURSE_NOBODY", "NBGRADER_EXECUTION"])
def test_nobody_joins_where_no_learner_is_at_work(room, course, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    with pytest.raises(CourseError, match="no learner"):
        joining.enter(course, room.address, CODE, "")
    assert not room.names


# --- sending


def test_only_verdicts_since_joining_are_sent_and_of_them_only_what_was_said(room, course, quick):
    check(course, TRIED)
    joining.enter(course, room.address, CODE, "")
    check(course, ("count_leaves", "hint"), TRIED, ("count_leaves", "solution"))
    Progress.load(course.progress_file).predict("01_mini", "leaves-2", "my own words")
    with course.progress_file.open("ab") as stream:
        stream.write(b'{"event": "tried", "lesson": "01_\n["tried"]\n{"event": ["tried"]}\n')
    check(course, SOLVED)
    with sender(course):
        wait_for(lambda: len(room.events) == 2)
    first, second = room.events.values()
    assert first.keys() == second.keys() == {*Sent.__struct_fields__}
    assert (first["event"], first["held"]) == ("tried", "counts_elements")
    assert (second["event"], second["held"]) == ("correct", "")
    assert {first["lesson"], second["lesson"]} == {"01_mini"}


def test_each_verdict_arrives_once_though_the_server_is_killed_and_answers_get_lost(
    room, course, quick
):
    joining.enter(course, room.address, CODE, "")
    with sender(course), sender(course):  # two kernels
        check(course, *[TRIED] * 120)
        wait_for(lambda: room.received > 50)
        room.kill()
        check(course, *[TRIED] * 5)
        room.swallows = 3
        room.start()
        check(course, SOLVED)
        wait_for(lambda: SOLVED in room.verdicts)
    secret, name = next(iter(room.names.items()))
    kept = joining.Membership(room.address, CODE, "", 0, secret, name)
    course.joined_file.write_text(json.dumps(vars(kept)))
    with sender(course):  # a kernel after a restart
        before = room.received
        wait_for(lambda: room.received > before)
    assert room.verdicts == [TRIED] * 125 + [SOLVED]


@pytest.mark.parametrize(
    ("status", "proxy_says", "then"),
    [
        (400, b"", [SOLVED]),  # this is no event to the class, and never will be
        *((status, b"", [TRIED, SOLVED]) for status in (404, 429, 500, 503)),
        *((status, b"<html>Log in, please", [TRIED, SOLVED]) for status in (200, 403, 407)),
        (200, b"{}", [TRIED, SOLVED]),
    ],
)
def test_what_is_refused_or_a_proxy_answers_in_place_of_the_class_is_sent_again(
    room, course, quick, status, proxy_says, then
):
    joining.enter(course, room.address, CODE, "")
    check(course, TRIED)
    room.refuses, room.proxy_says = status, proxy_says
    with pytest.raises(CourseError, match=r"No class answers|wait a minute"):
        joining.enter(course, room.address, CODE, "Ada")
    with sender(course):
        before = room.refused
        wait_for(lambda: room.refused > before + 1)
        room.refuses, room.proxy_says = 0, b""
        check(course, SOLVED)
        wait_for(lambda: room.verdicts == then)


def test_progress_that_begins_anew_is_sent_from_its_beginning(room, course, quick):
    check(course, TRIED, TRIED)
    joining.enter(course, room.address, CODE, "")
    with sender(course):
        check(course, SOLVED)
        wait_for(lambda: room.verdicts == [SOLVED])
        course.progress_file.unlink()
        check(course, ("first_leaf", "correct"))
        wait_for(lambda: room.verdicts == [SOLVED, ("first_leaf", "correct")])


def test_a_class_that_is_over_is_forgotten_and_leaves_the_next_one_alone(room, course, quick):
    joining.enter(course, room.address, CODE, "Ada")
    old = Sender(course.joined_file, read_membership(course.joined_file))
    joining.enter(course, room.address, CODE, "Grace")
    old.start()
    old.join(PATIENCE)
    assert not old.is_alive()
    assert read_membership(course.joined_file).name == "Grace"
    with sender(course) as thread:
        room.names.clear()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not course.joined_file.exists()


# --- in a notebook


@pytest.fixture
def notebook(course):
    """Return a function that starts a kernel, and gives one that runs cells in it."""
    with ExitStack() as running:

        def start(**variables):
            kernel = running_kernel(course.root / "exercises", **variables)
            run = running.enter_context(kernel)
            run(QUICK)
            run('import jax\nfrom pytree_course import Checks\ncheck = Checks("01_mini")')
            return run

        yield start


QUICK = """
from pytree_course.notebook import joining as m
m.LOOKS_EVERY = m.ASKS_EVERY = 0.01
"""
CHECK = "check.count_leaves(count_leaves)"


@pytest.mark.slow
def test_a_class_in_two_notebooks(room, course, notebook):
    first, second = notebook(), notebook()  # the second one is open before the learner joins
    refused = first(f'from pytree_course import join\njoin("{room.address}", "WRONG")')
    assert refused == "CourseError: The class does not know the code 'WRONG': copy it once more."
    shown = first(f'from pytree_course import join, leave, vote\njoin("{room.address}", "{CODE}")')
    assert "You are in the class as quiet otter" in shown
    assert f"On your phone, as the same learner: {room.address}/#secret 0" in shown
    for run in (first, second):
        run(RIGHT["count_leaves"])
        assert run(CHECK).startswith("✓ Correct")
    wait_for(lambda: room.verdicts == [SOLVED] * 2)

    room.news = {"note": {"number": 4, "text": "Ten more minutes. <b>"}, "vote": None}
    for run in (first, second):
        shown = wait_for(lambda run=run: (shown := run(CHECK)).count("✉") and shown)
        assert shown.endswith("✉ Your teacher Ten more minutes. <b>")
        assert "✉" not in run(CHECK)
    assert "no open vote" in first("vote()")

    room.news["vote"] = QUESTION
    shown = wait_for(lambda: (shown := second(CHECK)).count("Vote") and shown)
    assert "How many leaves does JAX see here? [1, None] A. `1` B. `2`" in shown
    assert "Vote" not in second(CHECK)
    assert "How many leaves does JAX see here?" in first("vote()")

    room.names = dict.fromkeys(room.names, "Grace")
    wait_for(lambda: "In the class you are now Grace." in first(CHECK))
    assert "Grace" not in first(CHECK)

    room.names.clear()  # the class is over
    for run in (first, second):
        shown = wait_for(lambda run=run: (shown := run(CHECK)).count("any more") and shown)
        assert shown.startswith("✓ Correct")
        assert shown.endswith("Nothing is sent.")
        assert "any more" not in run(CHECK)
    assert "You are in no class" in first("leave()")


@pytest.mark.slow
def test_nothing_is_sent_where_a_grader_runs_a_notebook(room, course, notebook):
    joining.enter(course, room.address, CODE, "")
    check(course, TRIED)
    run = notebook(PYTREE_COURSE_SEED="1")
    run(RIGHT["count_leaves"])
    run(CHECK)
    run("from pytree_course.notebook import joining")
    assert run("joining._sender is None") == "True"
    assert not room.received


ASKED = "asked = vote(); answer, said = asked.children[1:]"  # these names need no import


@pytest.mark.slow
def test_a_notebook_that_is_opened_later_sends_and_votes_too_until_its_learner_leaves(
    room, course, notebook
):
    joining.enter(course, room.address, CODE, "")
    check(course, TRIED)
    run = notebook()
    wait_for(lambda: room.verdicts == [TRIED])

    room.news["vote"] = QUESTION
    run(ASKED)
    assert "Your vote is B. You can change it" in run("answer.value = 'B'; said.value")
    assert "Your vote is A." in run("answer.value = 'A'; said.value")
    assert room.ballots == [(7, "B"), (7, "A")]
    room.kill()
    shown = run("answer.value = 'B'; said.value, answer.value")
    assert "cannot be reached: B does not count" in shown
    assert "None" in shown  # B can be chosen again
    room.start()
    assert "Your vote is B." in run("answer.value = 'B'; said.value")
    room.news["vote"] = {**QUESTION, "number": 8}  # the next round opens in the same place
    wait_for(lambda: run("asked.vote.number") == "8")
    assert run("asked.children[1].value is None") == "True"
    run("asked.children[1].value = 'A'")
    room.news["vote"] = None
    closed = run("asked.children[1].value = 'B'; asked.children[2].value")
    assert "The vote is closed: B does not count" in closed
    assert room.ballots == [(7, "B"), (7, "A"), (7, "B"), (8, "A")]

    run("leave()")
    assert not room.names
    assert not course.joined_file.exists()
    received = room.received
    run(RIGHT["count_leaves"])
    run("from pytree_course.notebook import joining; joining._sender.join()")
    assert run(CHECK).startswith("✓ Correct")
    assert room.received == received


def test_the_lab_joins(room, course_py, course, monkeypatch):
    monkeypatch.setattr("pytree_course.cli.learner.run_in_course", lambda *_, **__: 0)
    done = course_py("lab", "--join", room.address, CODE, "--as", "Ada", "--no-browser")
    assert "You are in the class as Ada" in done.stdout
    assert read_membership(course.joined_file).name == "Ada"
    done = course_py("lab", "--join", room.address, "WRONG", "--as", "Ada")
    assert done.returncode == 2
    assert "does not know the code" in done.stderr
