"""The server of a class with clients that stall, and by https."""

import http.client
import logging
import shutil
import socket
import ssl
import subprocess
from contextlib import suppress

import pytest

from pytree_course.board import server
from tests.class_room import PATIENCE, Classroom
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


ENDLESS = [
    b"",
    b"POST /join HT",
    b"POST /join HTTP/1.1\r\nHost: x\r\nX: ",
    b"POST /join HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",  # answered, and then nothing
]
ESCAPES = b"GET /../%1b]0;X%07 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /\x1b]0;X\x07\r\n\r\n"


def test_what_sends_nothing_more_is_closed_and_bad_requests_are_lines_on_the_terminal(
    room, monkeypatch, capfd
):
    monkeypatch.setattr(server, "MAX_REQUEST_SECONDS", 1)
    room.start()
    sent = [*ENDLESS, *ESCAPES]
    for connection in [raw(room, request) for request in sent]:
        read_to_the_end(connection)
    room.stop()
    printed = capfd.readouterr().err.splitlines()
    assert len(printed) <= len(sent)
    assert all(line.isprintable() for line in printed)


def test_one_client_that_keeps_many_connections_open_shuts_nobody_out(room, monkeypatch):
    monkeypatch.setattr(server, "MAX_FILES", server.OTHER_FILES + 8)
    room.start()
    ada = room.join("Ada")
    silent = [raw(room) for _ in range(30)]
    assert ada.solved(COUNT).status == 200
    for connection in silent[:20]:  # the server has closed those that were silent for longest
        read_to_the_end(connection)


def test_a_line_that_repeats_is_printed_with_a_count(capsys):
    handler = server._OneLineHandler()
    for message in ["full"] * 120 + ["other", "full"]:
        handler.emit(logging.makeLogRecord({"msg": message}))
    printed = capsys.readouterr().err.splitlines()
    assert printed == ["full", "full (10 times)", "full (100 times)", "other", "full"]


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
def test_with_a_certificate_everything_is_encrypted(tmp_path, certificate):
    room = Classroom(tmp_path / "class.sqlite", certificate).start()
    room.trusted = ssl.create_default_context(cafile=str(certificate))
    assert room.join("Ada").solved(COUNT).status == 200
    cookie = room.ask("GET", f"/board?token={room.token}").headers["Set-Cookie"]
    assert "Secure" in cookie
    room.trusted = None
    with pytest.raises((http.client.HTTPException, OSError)):
        room.ask("GET", "/")
    room.stop()
