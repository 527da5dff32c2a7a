"""A learner in a class: what is sent, when, and what of the class is seen in a notebook."""

import socket
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps
from threading import Thread

import pytest

from pytree_course.course import CourseError
from pytree_course.learner.progress import Progress
from pytree_course.notebook import joining, membership
from pytree_course.notebook.class_protocol import CLASS_HEADER, MAX_VERDICTS
from pytree_course.notebook.joining import Sender
from pytree_course.notebook.membership import Membership, join_class, read_membership, welcome_note
from tests.class_room import PATIENCE, Classroom, wait_for
from tests.kernels import running_kernel
from tests.made_submissions import RIGHT


@pytest.fixture
def room(course, tmp_path, monkeypatch):
    """Start a class on a campus whose systems name a proxy, which does not reach it."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    room = Classroom(tmp_path / "class.sqlite", root=course.root).start()
    yield room
    room.stop()


@pytest.fixture
def quick(monkeypatch):
    """Let no test wait for what a learner does not notice."""
    for name in ("SECONDS_BETWEEN_LOOKS", "SECONDS_BETWEEN_REQUESTS"):
        monkeypatch.setattr(joining, name, 0.01)


def names(room):
    """Return the names of the learners in a class."""
    return [learner.name for learner in room.session.room.learners.values()]


def verdicts(room):
    """Return what a class was sent, each thing once, in the order in which it came."""
    checks = [entry.data for entry in room.logged() if entry.kind == "checked"]
    return [(said["exercise"], "correct" if said["is_right"] else "tried") for said in checks]


@contextmanager
def sender(course):
    """Send in this process what a kernel would send."""
    thread = Sender(course.joined_file, read_membership(course.joined_file))
    thread.start()
    yield thread
    course.joined_file.unlink(missing_ok=True)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def check(course, *events):
    """Write into the progress file as checks do."""
    progress = Progress.load(course.progress_file)
    for exercise, event in events:
        progress.add("01_mini", exercise, event, ["elements"] if event == "tried" else [])


TRIED, SOLVED = ("count_leaves", "tried"), ("count_leaves", "correct")
OTHER = ("first_leaf", "correct")
QUESTION = {"lesson": "01_mini", "exercise": "leaves-are-not-elements-4", "name": "", "case": "1"}


# --- joining


def test_who_joins_is_told_the_name_what_is_sent_and_how_to_leave(room, course):
    shown = str(welcome_note(join_class(course, room.address + "/", room.code, "")))
    assert f"You are in the class as {names(room)[0]}" in shown
    for said in ("exercise", "verdict", "reasons", "tries", "time", "never sent", "leave()"):
        assert said in shown
    assert read_membership(course.joined_file).address == room.address
    assert stat.S_IMODE(course.joined_file.stat().st_mode) == 0o600


TOO_LONG = Membership("http://10.0.0.5:8910", "K7PM3Q", "", 0, "s" * 9000, "Ada")  # for a QR code


@pytest.mark.parametrize(
    "content", ["", "[]", '{"address": "http://10.0.0.5:8910"}', dumps(asdict(TOO_LONG))]
)
def test_a_damaged_membership_is_none(room, course, content):
    course.joined_file.write_text(content)
    assert read_membership(course.joined_file) is None
    join_class(course, room.address, room.code, "Ada")
    assert read_membership(course.joined_file).name == "Ada"


NO_ADDRESSES = ("10.0.0.5:8910", "file:///etc/passwd", "http://[", "the teacher", "")


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("{room}", "WRONG", "does not know the code 'WRONG'"),
        ("http://127.0.0.1:{closed}", "{code}", "No class answers at http://127"),
        *((address, "{code}", "it looks like http://10.0.0.5:8910") for address in NO_ADDRESSES),
    ],
)
def test_who_cannot_join_is_told_what_to_do_and_nothing_changes(room, course, address, code, said):
    join_class(course, room.address, room.code, "Ada")
    before = course.joined_file.read_bytes()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        address = address.format(room=room.address, closed=closed.getsockname()[1])
        with pytest.raises(CourseError, match=said):
            join_class(course, address, code.format(code=room.code), "Grace")
    assert course.joined_file.read_bytes() == before


def test_another_name_joins_anew_and_the_same_cell_run_again_does_not(room, course):
    for name in ("", "", "Grace", "Grace"):
        join_class(course, room.address, room.code, name)
    assert names(room) == ["Grace"]  # the one with a made-up name has left
    assert [entry.kind for entry in room.logged()] == ["opened", "joined", "joined", "left"]
    room.act("remove", learner="Grace", name="")
    assert join_class(course, room.address, room.code, "Grace").name == "Grace"
    assert names(room) == ["Grace"]


@pytest.mark.parametrize(
    ("seconds", "piece", "pause"),
    [(PATIENCE, b"s" * 100_000, 0), (0.5, b" ", 0.05)],
    ids=["never ends", "comes byte by byte"],
)
def test_a_hostile_class_neither_fills_the_memory_nor_holds_the_notebook(
    course, monkeypatch, seconds, piece, pause
):
    monkeypatch.setattr(membership, "TIMEOUT_SECONDS", seconds)
    sent = []

    def answer():
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.sendall(f"HTTP/1.1 200 OK\r\n{CLASS_HEADER}: 1\r\n\r\n".encode())
            while True:
                connection.sendall(piece)
                sent.append(piece)
                time.sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = Thread(target=answer)
        answering.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(CourseError, match="No class answers"):
            join_class(course, address, "CODE", "Ada")
        answering.join()
    assert sum(map(len, sent)) < 50_000_000  # read, or on the way
    assert not course.joined_file.exists()


@pytest.mark.parametrize("variable", ["PYTREE_COURSE_NOBODY", "NBGRADER_EXECUTION"])
def test_nobody_joins_where_no_learner_is_at_work(room, course, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    with pytest.raises(CourseError, match="no learner"):
        join_class(course, room.address, room.code, "")
    assert not names(room)


# --- sending


def test_only_verdicts_since_joining_are_sent_and_of_them_only_what_was_said(room, course, quick):
    check(course, TRIED)
    join_class(course, room.address, room.code, "")
    check(course, ("count_leaves", "hint"), TRIED, ("count_leaves", "solution"))
    Progress.load(course.progress_file).predict("01_mini", "leaves-2", "my own words")
    with course.progress_file.open("ab") as stream:
        stream.write(b'{"event": "tried", "lesson": "01_\n["tried"]\n{"event": ["tried"]}\n')
    check(course, SOLVED)
    with sender(course):
        wait_for(lambda: SOLVED in verdicts(room))
    assert verdicts(room) == [TRIED, SOLVED]
    held = [entry.data["misconceptions"] for entry in room.logged() if entry.kind == "checked"]
    assert held == [["elements"], []]


def test_each_verdict_arrives_once_though_the_server_goes_away_for_a_while(room, course, quick):
    join_class(course, room.address, room.code, "")
    joined = read_membership(course.joined_file)
    with sender(course), sender(course):  # two kernels
        check(course, *[TRIED] * 120)
        wait_for(lambda: len(verdicts(room)) > MAX_VERDICTS)
        room.stop()
        check(course, *[TRIED] * 5)
        room.start()
        check(course, SOLVED)
        wait_for(lambda: SOLVED in verdicts(room))
    course.joined_file.write_text(dumps(asdict(replace(joined, progress_start=0))))
    check(course, OTHER)
    with sender(course):  # a kernel after a restart, which begins at the beginning
        wait_for(lambda: OTHER in verdicts(room))
    assert verdicts(room) == [TRIED] * 125 + [SOLVED, OTHER]


@contextmanager
def portal(port, status, page):
    """Answer in the place of a class, as a proxy or a network's page to log in does."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        Thread(target=server.serve_forever, args=[0.01]).start()
        yield asked
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "page"),
    [(200, b"{}"), *((status, b"<html>Log in, please") for status in (200, 403, 407, 503))],
)
def test_what_is_answered_in_the_place_of_the_class_is_sent_again(
    room, course, quick, status, page
):
    join_class(course, room.address, room.code, "")
    check(course, TRIED)
    room.stop()
    with sender(course):
        with portal(room.port, status, page) as asked:
            with pytest.raises(CourseError, match="No class answers"):
                join_class(course, room.address, room.code, "Ada")
            wait_for(lambda: asked.count("/events") > 1)
        room.start()
        check(course, SOLVED)
        wait_for(lambda: verdicts(room) == [TRIED, SOLVED])


def test_progress_that_begins_anew_is_sent_from_its_beginning(room, course, quick):
    check(course, TRIED, TRIED)
    join_class(course, room.address, room.code, "")
    with sender(course):
        check(course, SOLVED)
        wait_for(lambda: verdicts(room) == [SOLVED])
        course.progress_file.unlink()
        check(course, OTHER)
        wait_for(lambda: verdicts(room) == [SOLVED, OTHER])


def test_a_class_that_is_over_is_forgotten_and_leaves_the_next_one_alone(room, course, quick):
    join_class(course, room.address, room.code, "Ada")
    old = Sender(course.joined_file, read_membership(course.joined_file))
    join_class(course, room.address, room.code, "Grace")
    old.start()
    old.join(PATIENCE)
    assert not old.is_alive()
    assert read_membership(course.joined_file).name == "Grace"
    with sender(course) as thread:
        room.act("remove", learner="Grace", name="")
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not course.joined_file.exists()


# --- in a notebook


@pytest.fixture
def notebook(course):
    """Return a function that starts a kernel, and gives one that runs cells in it."""
    with ExitStack() as running:

        def start():
            run = running.enter_context(running_kernel(course.root / "exercises"))
            run(QUICK)
            run('import jax\nfrom pytree_course import Checks\ncheck = Checks("01_mini")')
            return run

        yield start


QUICK = """
from pytree_course.notebook import joining as m
m.SECONDS_BETWEEN_LOOKS = m.SECONDS_BETWEEN_REQUESTS = 0.01
"""
CHECK = "check.count_leaves(count_leaves)"


@pytest.mark.slow
def test_a_class_in_two_notebooks(room, course, notebook):
    first, second = notebook(), notebook()  # the second one is open before the learner joins
    imported = "from pytree_course import join, leave, vote\n"
    refused = first(f'{imported}join("{room.address}", "WRONG")')
    assert refused == "CourseError: The class does not know the code 'WRONG': copy it once more."
    shown = first(f'join("{room.address}", "{room.code}")')
    [name], secret = names(room), read_membership(course.joined_file).secret
    assert f"You are in the class as {name}" in shown
    assert f"On your phone, as the same learner: {room.address}/#{secret}" in shown
    for run in (first, second):
        run(RIGHT["count_leaves"])
        assert run(CHECK).startswith("✓ Correct")
    wait_for(lambda: verdicts(room) == [SOLVED] * 2)

    room.act("note", text="Ten more minutes. <b>")
    for run in (first, second):
        shown = wait_for(lambda run=run: (shown := run(CHECK)).count("✉") and shown)
        assert shown.endswith("✉ Your teacher Ten more minutes. <b>")
        assert "✉" not in run(CHECK)
    assert "no open vote" in first("vote()")
    assert "Run `vote()` without a letter" in first('vote("B")').replace("\n", " ")

    room.act("ask", **QUESTION)
    shown = wait_for(lambda: (shown := second(CHECK)).count("Vote") and shown)
    assert "How many leaves has `[1, (2, 3)]`?" in shown
    assert "A. 2 B. 3 C. 1" in shown
    assert "Vote" not in second(CHECK)
    assert "How many leaves has" in first("vote()")

    room.act("rename", learner=name, name="Grace")
    wait_for(lambda: "In the class you are now Grace." in first(CHECK))
    assert "Grace" not in first(CHECK)

    room.act("remove", learner="Grace", name="")
    for run in (first, second):
        shown = wait_for(lambda run=run: (shown := run(CHECK)).count("any more") and shown)
        assert shown.startswith("✓ Correct")
        assert shown.endswith("Nothing is sent.")
        assert "any more" not in run(CHECK)
    assert "You are in no class" in first("leave()")

    course.joined_file.write_text("[]")
    assert "joined.json cannot be read" in first("1")
    assert "joined.json" not in first("1")


ASKED = "asked = vote(); answer, said = asked.children[1:]"  # these names need no import


@pytest.mark.slow
def test_a_notebook_that_is_opened_later_sends_and_votes_too_until_its_learner_leaves(
    room, course, notebook
):
    join_class(course, room.address, room.code, "")
    check(course, TRIED)
    run = notebook()
    wait_for(lambda: verdicts(room) == [TRIED])

    room.act("ask", **QUESTION)
    run(ASKED)
    for choice in "BA":
        said = run(f"answer.value = '{choice}'; said.value")
        assert f"Your vote is {choice}. You can change it" in said
    room.act("ask again")  # this round opens in the same place
    number = str(room.session.room.vote.number)
    wait_for(lambda: run("asked.vote.number") == number)
    assert run("asked.children[1].value is None") == "True"
    run("asked.children[1].value = 'A'")
    assert [entry.data["choice"] for entry in room.logged() if entry.kind == "voted"] == [*"BAA"]

    run("leave()")
    assert not names(room)
    assert not course.joined_file.exists()
    run(RIGHT["count_leaves"])
    run("import threading; [t.join() for t in threading.enumerate() if isinstance(t, m.Sender)]")
    assert run(CHECK).startswith("✓ Correct")
    assert verdicts(room) == [TRIED]


def test_the_lab_joins(room, course_py, course, monkeypatch):
    monkeypatch.setattr("pytree_course.cli.learner.run_in_course", lambda *_, **__: 0)
    done = course_py("lab", "--join", room.address, room.code, "--as", "Ada", "--no-browser")
    assert "You are in the class as Ada" in done.stdout
    assert read_membership(course.joined_file).name == "Ada"
    done = course_py("lab", "--join", room.address, "WRONG", "--as", "Ada")
    assert done.returncode == 2
    assert "does not know the code" in done.stderr
