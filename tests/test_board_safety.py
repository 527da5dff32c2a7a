"""The server of a class under load, with clients that stall, and by https."""

import http.client
import shutil
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pytree_course.board import server
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


def raw(room, sent=b""):
    """Connect, send some bytes, and do nothing more."""
    connection = socket.create_connection(("127.0.0.1", room.port), timeout=PATIENCE)
    with suppress(ConnectionError):  # closed before all was sent
        connection.sendall(sent)
    return connection


def read_to_the_end(connection):
    """Wait until the server closes a connection."""
    with connection, suppress(ConnectionError):
        while connection.recv(MB):
            pass


def test_many_at_once_are_all_counted(room):
    room.start()

    def work(number):
        learner = room.join(f"learner {number}")
        return [learner.send(event(COUNT)).status for _ in range(3)]

    with ThreadPoolExecutor(50) as pool:
        assert [*pool.map(work, range(50))] == [[200] * 3] * 50
    assert len([each for each in room.logged() if each.what == "checked"]) == 150
    assert "50 learners" in room.news("screen")["screen"]


ENDLESS = [
    b"",
    b"POST /join HT",
    b"POST /join HTTP/1.1\r\nHost: x\r\nX: ",
    b"POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",  # answered, and then nothing
]
NO_HTTP = [b"\0" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET /\r\n" * 50, b"A" * 200_000]
ESCAPES = [
    b"POST /board HTTP/1.1\r\nHost: x\r\nContent-Length: 17\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\n%1b]0;X%07=%ff&a=b",
    b"GET /../%1b]0;X%07 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /board?token=%ff%1b HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /\x1b]0;X\x07 HTTP/1.1\r\nHost: x\r\n\r\n",
]


def test_what_sends_nothing_more_is_closed_and_bad_requests_are_lines_on_the_terminal(
    room, monkeypatch, capfd
):
    monkeypatch.setattr(server, "SLOWEST", 1)
    room.start()
    sent = [*ENDLESS, *NO_HTTP, *ESCAPES]
    for connection in [raw(room, request) for request in sent]:
        read_to_the_end(connection)
    room.stop()
    printed = capfd.readouterr().err.splitlines()
    assert len(printed) <= len(sent)
    assert all(line.isprintable() for line in printed)


def test_of_one_address_with_too_many_connections_that_is_closed_which_is_idle_longest(
    room, monkeypatch
):
    monkeypatch.setattr(server, "MOST_OF_ONE_ADDRESS", 5)
    room.start()
    page = room.connection()
    page.request("GET", "/board/news", headers={"Cookie": room.cookie})
    news = page.getresponse()
    assert news.readline().startswith(b"data: ")
    idle = [raw(room) for _ in range(8)]
    assert room.join("Ada").solved(COUNT).status == 200
    for connection in idle[:4]:
        assert connection.recv(1) == b""
    # Those that take no answers are idle too.
    stuck = [raw(room) for _ in range(4)]
    for connection in stuck:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        with suppress(OSError):
            connection.send(b"GET /phone.js HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000)
    assert room.join("Ben").solved(COUNT).status == 200
    # The teacher's page waits too, but for no request.
    assert any(b"2 learners" in line for line in iter(news.readline, b""))
    for connection in (page, *idle, *stuck):
        connection.close()


# --- https


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


@pytest.mark.slow
def test_with_a_certificate_everything_is_encrypted(tmp_path, certificate, monkeypatch):
    monkeypatch.setattr(server, "SLOWEST", 5)
    room = Classroom(tmp_path / "class.sqlite", certificate).start()
    room.trusted = ssl.create_default_context(cafile=str(certificate))
    assert room.join("Ada").solved(COUNT).status == 200
    cookie = room.ask("GET", f"/board?token={room.token}").headers["Set-Cookie"]
    assert "Secure" in cookie
    for no_handshake in (b"", b"\x16\x03\x01"):
        read_to_the_end(raw(room, no_handshake))
    room.trusted = None
    with pytest.raises((http.client.HTTPException, OSError)):
        room.ask("GET", "/")
    room.trusted = ssl.create_default_context()  # that does not know the certificate
    with pytest.raises(ssl.SSLCertVerificationError):
        room.ask("GET", "/")
    room.stop()


@pytest.mark.parametrize("content", [None, b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_certificate_that_is_none_is_said(tmp_path, content):
    file = tmp_path / "certificate.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CourseError, match="other certificate files"):
        listening("127.0.0.1", 0, file)
