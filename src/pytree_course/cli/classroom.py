"""The command `classroom`: the board of a class in one room."""

import asyncio
import socket
from pathlib import Path
from typing import Annotated

import segno
import typer

from pytree_course.cli.app import app, console, warn
from pytree_course.course import Course

HERE = "127.0.0.1"


@app.command()
def classroom(
    into: Annotated[
        Path, typer.Option(metavar="FILE", help="The file that the session is kept in.")
    ] = Path("classroom.sqlite"),
    host: Annotated[
        str,
        typer.Option(help="Where to listen; 0.0.0.0 lets every machine in the network join."),
    ] = HERE,
    port: Annotated[int, typer.Option(help="Where to listen; 0 chooses a free one.")] = 8910,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For https: the certificate, as PEM.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The certificate's key, if in another file."),
    ] = None,
) -> None:
    """For teachers: see what a class in one room believes, while it works.

    If you start it again with the same file, the session continues.
    """
    from pytree_course.board.pages import Pages
    from pytree_course.board.server import listening, serve
    from pytree_course.board.session import Session

    sockets, encrypted = listening(host, port, certificate, key)
    session = Session(into)
    protocol = "https" if encrypted else "http"
    address = f"{protocol}://{_reached_at(host)}:{sockets[0].getsockname()[1]}"
    pages = Pages(Course.above(), session, address)
    console.print(f'Learners join with: join("{address}", "{session.room.code}")', soft_wrap=True)
    segno.make(f"{address}/?code={session.room.code}").terminal(compact=True)
    console.print(f"Your board: {address}/board?token={session.room.token}", soft_wrap=True)
    console.print(f"The session is kept in {into}. Ctrl-C stops the server, and keeps the session.")
    if host == HERE:
        console.print("Only this machine can join. For all of its network: --host 0.0.0.0")
    else:
        warn("Every machine in this network can reach this server.")
        if not certificate:
            warn("Without --certificate, the network can read everything that is sent.")
    try:
        asyncio.run(serve(pages, sockets, encrypted))
    except KeyboardInterrupt:
        session.log.close()


def _reached_at(host: str) -> str:
    """Return this machine's address in the network; finding it sends no packet."""
    if host != "0.0.0.0":
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as finder:
        try:
            finder.connect(("192.0.2.1", 9))
        except OSError:
            return HERE
        return str(finder.getsockname()[0])
