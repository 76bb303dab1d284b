"""Servers on loopback that answer as they are told to, one script a connection."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Server:
    port: int
    connections: int = 0
    received: list[bytes] = field(default_factory=list)


Script = Callable[[socket.socket, Server], None]


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """Every connection gets a thread that runs the script, then it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener.getsockname()[1])
        accepting = threading.Thread(
            target=_accept, args=(listener, script, server), daemon=True
        )
        accepting.start()
        try:
            yield server
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            accepting.join(5)


def _accept(listener: socket.socket, script: Script, server: Server) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        threading.Thread(
            target=_run, args=(connection, script, server), daemon=True
        ).start()


def _run(connection: socket.socket, script: Script, server: Server) -> None:
    with connection, contextlib.suppress(OSError):
        script(connection, server)


def drip(connection: socket.socket, byte: bytes = b"x") -> None:
    """One byte at a time, so that no timeout of a single read ever fires."""
    for _ in range(600):
        connection.sendall(byte)
        time.sleep(0.05)


def stay_silent(connection: socket.socket) -> None:
    """Until the other side hangs up."""
    connection.settimeout(30)
    while connection.recv(65536):
        pass
