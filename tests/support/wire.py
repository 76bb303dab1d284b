"""A loopback server that answers with exactly the bytes it is given.

    with wire.served(b"HTTP/1.1 200 OK\\r\\n...", wire.http(text("ok"))) as base_url:
        ...

Each request gets the next entry, on a connection of its own that then ends.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.support.replies import Answer

TLS = b"\x16\x03"
RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Sent:
    """Bytes of a reply; `resets` ends its connection with an error, not an end.

    `pause_s` is the pause after every byte, in seconds.
    """

    content: bytes
    resets: bool = False
    pause_s: float = 0.0


def http(answer: Answer, *, headers: Sequence[str] = (), length: int | None = None):
    """An answer as bytes, with more headers, or another length than it has."""
    size = len(answer.body) if length is None else length
    lines = [
        f"HTTP/1.1 {answer.status} Said",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
        *headers,
        *([] if length == -1 else [f"content-length: {size}"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body


@contextmanager
def served(*script: bytes | Sent) -> Iterator[str]:
    """The script on a free loopback port; gives the base URL."""
    stopping = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, script, stopping))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            stopping.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def _serve(
    server: socket.socket, script: Sequence[bytes | Sent], stopping: threading.Event
) -> None:
    for entry in script:
        sent = entry if isinstance(entry, Sent) else Sent(entry)
        with suppress(OSError):
            connection, _ = server.accept()
            with connection:
                connection.settimeout(5)
                _read_request(connection)
                _answer(connection, sent, stopping)
    server.close()


def _read_request(connection: socket.socket) -> None:
    head, _, body = b"", b"", b""
    while b"\r\n\r\n" not in head and not head.startswith(TLS):
        head += connection.recv(65536) or b"\r\n\r\n"
    head, _, body = head.partition(b"\r\n\r\n")
    wanted = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
    while len(body) < wanted:
        body += connection.recv(65536) or b" " * wanted


def _answer(connection: socket.socket, sent: Sent, stopping: threading.Event) -> None:
    if sent.pause_s:
        for place in range(len(sent.content)):
            connection.sendall(sent.content[place : place + 1])
            if stopping.wait(sent.pause_s):
                return
    else:
        connection.sendall(sent.content)
    if sent.resets:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
