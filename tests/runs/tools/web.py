"""What the tests of http_request share: asking, answering, look-ups made up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from runs.tools.http_request import http_request
from runs.tools.perform import perform
from tests.runs.tools.calls import context
from tests.runs.tools.servers import Script, Server, serving

HERE = {"allow_private": ["127.0.0.1"]}


def ask(
    url: str,
    method: str = "GET",
    seconds: float = 5.0,
    settings: dict[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    call = {"method": method, "url": url, **arguments}
    known = context(seconds, HERE if settings is None else settings)
    return perform(http_request, call, known)


def request_of(connection: socket.socket) -> bytes:
    """Head and body of one request."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += connection.recv(65536)
    head, _, body = content.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def answering(*answers: bytes) -> Script:
    """The n-th connection gets the n-th answer, the last one for all that follow."""

    def script(connection: socket.socket, server: Server) -> None:
        server.received.append(request_of(connection))
        number = min(len(server.received), len(answers)) - 1
        connection.sendall(answers[number])

    return script


def answer(body: bytes = b"hello", status: str = "200 OK", **headers: str) -> bytes:
    lines = {"Content-Type": "text/plain", "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


@contextmanager
def http(*answers: bytes) -> Iterator[tuple[str, Server]]:
    with serving(answering(*answers)) as server:
        yield f"http://127.0.0.1:{server.port}", server


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[Any]:
    """The n-th look-up gives the n-th answer; returns the hosts looked up."""
    asked: list[Any] = []

    def getaddrinfo(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in found]

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", getaddrinfo)
    return asked
