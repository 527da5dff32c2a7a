"""The server of a class under load, with readers that do not read, and by https."""

import http.client
import shutil
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pytree_course.board import handlers, server
from pytree_course.board.server import listening
from pytree_course.course import CourseError
from tests.class_room import PATIENCE, Classroom, event
from tests.needs import missing

COUNT = "count_leaves"
MB = 1_000_000


@pytest.fixture
def room(tmp_path):
    room = Classroom(tmp_path / "class.sqlite")
    yield room
    room.stop()


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        missing("openssl, which makes a certificate")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", "-", "-out", "-"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    file = tmp_path / "certificate.pem"
    file.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    return file


def raw(room, sent=b""):
    """Connect, send some bytes, and do nothing more."""
    connection = socket.create_connection(("127.0.0.1", room.port), timeout=PATIENCE)
    connection.sendall(sent)
    return connection


# --- many, and idle ones


def test_many_at_once_are_all_counted(room):
    room.start()
    together = threading.Barrier(50)

    def work(number):
        together.wait(PATIENCE)
        learner = room.join(f"learner {number}")
        return [learner.send(event(COUNT)).status for _ in range(5)]

    with ThreadPoolExecutor(50) as pool:
        assert [*pool.map(work, range(50))] == [[200] * 5] * 50
    events = [each for each in room.logged() if each.what == "checked"]
    assert len(events) == 250
    assert "50 learners" in room.news("screen")["screen"]


BEGINNINGS = [
    b"",
    b"POST /join HT",
    b"POST /join HTTP/1.1\r\nHost: x\r\nX: ",
    b"POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",  # answered, and then nothing
]


def test_a_connection_that_sends_nothing_more_is_closed(room, monkeypatch):
    monkeypatch.setattr(server, "SLOWEST", 0.2)
    room.start()
    idle = [raw(room, sent) for sent in BEGINNINGS for _ in range(15)]
    assert room.join("Ada").solved(COUNT).status == 200  # nobody waits for them
    for each in idle:
        while each.recv(MB):
            pass
        each.close()


def test_what_is_no_http_ends_its_own_connection_only(room, monkeypatch):
    monkeypatch.setattr(server, "SLOWEST", 0.2)
    room.start()
    ada = room.join("Ada")
    for sent in (b"\0" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET /\r\n" * 50, b"A" * 200_000):
        with raw(room) as connection, suppress(ConnectionError):  # closed before all was sent
            connection.sendall(sent)
            while connection.recv(MB):
                pass
        assert ada.solved(COUNT).status == 200


@pytest.mark.parametrize(
    "sent",
    [
        "POST /board HTTP/1.1\r\nHost: x\r\nContent-Length: 17\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n%1b]0;X%07=%ff&a=b",
        "GET /../%1b]0;X%07 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /board?token=%ff%1b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /\x1b]0;X\x07 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_a_bad_request_is_one_printable_line_on_the_terminal_at_most(
    room, sent, monkeypatch, capfd
):
    monkeypatch.setattr(server, "SLOWEST", 0.2)
    room.start()
    with raw(room, sent.encode()) as connection:
        while connection.recv(MB):
            pass
    room.stop()
    printed = capfd.readouterr().err
    assert printed.count("\n") <= 1
    assert printed.rstrip("\n").isprintable()


# --- readers that do not read


def test_connections_that_take_nothing_are_closed_and_one_address_has_only_some(room, monkeypatch):
    monkeypatch.setattr(server, "SLOWEST", 0.5)
    monkeypatch.setattr(server, "SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.setattr(server, "MOST_OF_ONE_ADDRESS", 5)
    room.start()
    many = b"GET /phone.js HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000
    stuck = [raw(room) for _ in range(5)]
    for connection in stuck:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        with suppress(BlockingIOError):
            connection.send(many)
    with raw(room) as too_many:
        assert too_many.recv(1) == b""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            assert room.join("Ada").name == "Ada"
            break
        except (http.client.HTTPException, ConnectionError):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    for connection in stuck:
        connection.close()


def test_a_page_that_does_not_read_its_news_gets_no_more_and_holds_up_nobody(room, monkeypatch):
    monkeypatch.setattr(handlers, "SECONDS_BETWEEN_NEWS", 0)
    room.start()
    made = {"board": 0, "screen": 0}

    def large(page):
        def make(now):
            made[page] += 1
            return {"vote": f"{made[page]} " * MB}

        return make

    monkeypatch.setattr(room.pages, "board", large("board"))
    monkeypatch.setattr(room.pages, "screen", large("screen"))
    request = f"GET /screen/news HTTP/1.1\r\nHost: x\r\nCookie: {room.cookie}\r\n\r\n".encode()
    connection = room.connection()
    connection.request("GET", "/board/news", headers={"Cookie": room.cookie})
    with raw(room, request) as asleep:
        news = connection.getresponse()
        for _ in range(40):
            assert news.readline().startswith(b"data: ")
            news.readline()
            room.in_loop(room.session.tell)
        # What is on its way fits into the two sockets' buffers; nothing else was made for it.
        assert made["board"] >= 40
        assert 1 <= made["screen"] <= 15
        assert room.join("Ada").solved(COUNT).status == 200
        assert asleep.recv(5) == b"HTTP/"
    connection.close()


# --- https


@pytest.fixture
def encrypted(tmp_path, certificate, monkeypatch):
    """Start a server with a certificate that this client trusts."""
    monkeypatch.setattr(server, "SLOWEST", 1)
    room = Classroom(tmp_path / "class.sqlite", certificate).start()
    room.trusted = ssl.create_default_context(cafile=str(certificate))
    yield room
    room.stop()


def test_with_a_certificate_everything_is_encrypted(encrypted):
    assert encrypted.join("Ada").solved(COUNT).status == 200
    cookie = encrypted.ask("GET", f"/board?token={encrypted.token}").headers["Set-Cookie"]
    assert "Secure" in cookie
    assert "1 learner" in encrypted.news()["class"]
    encrypted.trusted = None
    with pytest.raises((http.client.HTTPException, OSError)):
        encrypted.ask("GET", "/")
    encrypted.trusted = ssl.create_default_context()  # that does not know the certificate
    with pytest.raises(ssl.SSLCertVerificationError):
        encrypted.ask("GET", "/")


def test_who_never_shakes_hands_is_cut_off_and_holds_up_nobody(encrypted):
    idle = [raw(encrypted, sent) for sent in (b"", b"\x16\x03\x01") for _ in range(20)]
    assert encrypted.join("Ada").solved(COUNT).status == 200
    for each in idle:
        assert each.recv(MB) == b""
        each.close()


@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_certificate_that_is_none_is_said(tmp_path, content):
    file = tmp_path / "certificate.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CourseError, match="other certificate files"):
        listening("127.0.0.1", 0, file)
