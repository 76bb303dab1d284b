"""One HTTP request to an address that was checked, bounded in time and size.

Nothing here follows a redirect, uses a proxy or looks a name up.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from runs.canonical import shorten
from runs.errors import (
    InvalidCall,
    NotSent,
    OutcomeUnknown,
    StepError,
    TimedOut,
    Transient,
)
from runs.tools.base import Deadline
from runs.tools.http_policy import Target
from runs.tools.sockets import Address, connect, ended_at

CHUNK = 65_536
OVERHEAD = 1_000_000


@dataclass(frozen=True)
class Request:
    """`reads`: asking again does no harm."""

    method: str
    headers: Mapping[str, str]
    body: bytes | None
    reads: bool


@dataclass(frozen=True)
class Reply:
    """`body` is decompressed; `complete` is False when some of it is missing."""

    status: int
    reason: str
    headers: http.client.HTTPMessage
    body: bytes
    complete: bool


def exchange(
    target: Target,
    request: Request,
    addresses: list[Address],
    deadline: Deadline,
    max_bytes: int,
) -> Reply:
    """Send the request to one of the addresses and read its answer.

    Raises `NotSent` or `InvalidCall` while nothing has been sent. After that:
    `TimedOut` or `Transient` for a request that reads, else `OutcomeUnknown`,
    unless the answer's status had arrived.
    """
    with contextlib.ExitStack() as stack:
        try:
            connection = _connection(target, addresses, deadline, stack)
            # Typed as a class; it is only ever called.
            connection.response_class = cast(
                "type[_Response]", partial(_Response, most=_most(max_bytes))
            )
        except (OSError, TimedOut) as error:
            raise _not_reached(target, request, error, deadline) from error
        try:
            connection.request(
                request.method, target.path, request.body, _headers(target, request)
            )
            response = stack.enter_context(contextlib.closing(connection.getresponse()))
            if response.status < 200:
                raise http.client.HTTPException(f"{response.status} is no answer")
            return _reply(response, request, deadline, max_bytes)
        except (OSError, http.client.HTTPException, TimedOut) as error:
            raise _broken(target, request, error, deadline) from error


def _connection(
    target: Target,
    addresses: list[Address],
    deadline: Deadline,
    stack: contextlib.ExitStack,
) -> http.client.HTTPConnection:
    """A connection that never looks the host up: it has its socket already."""
    plain = stack.enter_context(connect(addresses, target.port, deadline))
    stack.enter_context(ended_at(plain, deadline))
    channel: socket.socket = plain
    if target.scheme == "https":
        channel = _tls().wrap_socket(plain, server_hostname=target.host)
    stack.enter_context(channel)
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.auto_open = 0
    connection.sock = channel
    return connection


class _Response(http.client.HTTPResponse):
    """An answer of which no more than `most` bytes are read, whatever it says of
    itself: headers, sizes of chunks (one may be negative) and trailers included."""

    fp: io.BufferedReader

    def __init__(self, sock: socket.socket, *args: Any, most: int, **kwargs: Any):
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Bounded(self.fp.detach(), most))


class _Bounded(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, most: int) -> None:
        self.raw, self.left = raw, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.left <= 0:
            raise http.client.HTTPException("it does not end")
        count = self.raw.readinto(memoryview(buffer)[: self.left])
        self.left -= count or 0
        return int(count) if count is not None else None

    def close(self) -> None:
        self.raw.close()
        super().close()


def _most(max_bytes: int) -> int:
    """Of what may be an answer of so many bytes: chunks have frames."""
    return 2 * max_bytes + OVERHEAD


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _headers(target: Target, request: Request) -> dict[str, str]:
    ours = {
        "Host": target.host_header,
        "Accept-Encoding": "gzip",
        "Connection": "close",
        "User-Agent": "agentops",
    }
    given = {name.lower() for name in request.headers}
    kept = {name: value for name, value in ours.items() if name.lower() not in given}
    return {**kept, **request.headers}


def _reply(
    response: http.client.HTTPResponse,
    request: Request,
    deadline: Deadline,
    max_bytes: int,
) -> Reply:
    try:
        body, complete = _body(response, deadline, max_bytes)
    except zlib.error:
        body, complete = b"", False
    except (OSError, http.client.HTTPException, TimedOut):
        if request.reads:
            raise
        # The server has answered, so the outcome is known without the rest.
        body, complete = b"", False
    return Reply(response.status, response.reason, response.headers, body, complete)


def _body(
    response: http.client.HTTPResponse, deadline: Deadline, limit: int
) -> tuple[bytes, bool]:
    """At most `limit` bytes, compressed and not, and whether that is all."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    unpack = (
        zlib.decompressobj(47) if encoding in {"gzip", "x-gzip", "deflate"} else None
    )
    body, received = b"", 0
    while len(body) <= limit and received <= limit:
        chunk = response.read(CHUNK)
        # The end that we made ourselves looks like the server's.
        deadline.remaining()
        if not chunk and response.length:
            raise http.client.IncompleteRead(body, response.length)
        if not chunk:
            return body, _is_whole(unpack) or not received
        received += len(chunk)
        body += unpack.decompress(chunk, limit + 1 - len(body)) if unpack else chunk
    return body[:limit], False


def _is_whole(unpack: Any) -> bool:
    """All of what was packed has been unpacked, and nothing comes after it."""
    return unpack is None or bool(unpack.eof and not unpack.unused_data)


def _not_reached(
    target: Target, request: Request, error: Exception, deadline: Deadline
) -> StepError:
    said = f"{target.origin} was not reached: {_words(error)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return InvalidCall(said)
    if request.reads and _is_over(deadline):
        return TimedOut(said)
    return NotSent(said)


def _broken(
    target: Target, request: Request, error: Exception, deadline: Deadline
) -> StepError:
    said = f"{target.origin} did not answer properly: {_words(error)}"
    if not request.reads:
        return OutcomeUnknown(said)
    return TimedOut(said) if _is_over(deadline) else Transient(said)


def _is_over(deadline: Deadline) -> bool:
    return deadline.at <= time.monotonic()


def _words(error: Exception) -> str:
    return shorten(f"{type(error).__name__}: {error}", 200)
