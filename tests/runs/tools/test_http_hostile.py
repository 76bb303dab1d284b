"""Servers that lie, flood and never end, and requests that hide what they do."""

from __future__ import annotations

import codecs
import gzip
import socket
import tracemalloc
import zlib

import pytest

from runs.errors import InvalidCall, OutcomeUnknown, StepError, TimedOut, Transient
from runs.tools.http_client import OVERHEAD
from tests.runs.tools.servers import Script, Server, serving
from tests.runs.tools.web import HERE, answer, ask, http, request_of, resolving

pytestmark = pytest.mark.once

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def flooding(start: bytes, more: bytes) -> Script:
    """Answers with `start`, then with `more` for as long as anybody reads."""

    def script(connection: socket.socket, server: Server) -> None:
        request_of(connection)
        connection.sendall(start)
        while True:
            connection.sendall(more)

    return script


def asked(script: Script, method: str = "GET", seconds: float = 20.0) -> StepError:
    with serving(script) as server, pytest.raises(StepError) as caught:
        ask(
            f"http://127.0.0.1:{server.port}/",
            method,
            seconds,
            {**HERE, "max_bytes": 100_000},
        )
    return caught.value


ENDLESS = {
    "100 continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "headers": (OK, b"X-More: y\r\n" * 100),
    "a header": (OK + b"X-More: ", b"y" * 10_000),
    "a status line": (b"HTTP/1.1 200 ", b"y" * 10_000),
    "a negative chunk": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        b"y" * 9_999,
    ),
    "trailers": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n",
        b"X-More: y\r\n" * 100,
    ),
    "frames of chunks": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
        b"1;" + b"e" * 5_000 + b"\r\ny\r\n",
    ),
}


@pytest.mark.parametrize(("start", "more"), ENDLESS.values(), ids=ENDLESS)
def test_t03_no_answer_is_read_without_end(start: bytes, more: bytes) -> None:
    tracemalloc.start()
    try:
        error = asked(flooding(start, more))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert isinstance(error, Transient)
    assert peak < 4 * OVERHEAD


def test_a_chunk_may_say_that_it_is_giant() -> None:
    start = OK + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n"
    with serving(flooding(start, b"y" * 10_000)) as server:
        result = ask(
            f"http://127.0.0.1:{server.port}/", settings={**HERE, "max_bytes": 9}
        )

    assert (result["body"], result["truncated"]) == ("y" * 9, True)


@pytest.mark.parametrize("status", ["101 Switching Protocols", "103 Early Hints"])
@pytest.mark.parametrize(
    ("method", "kind"), [("GET", Transient), ("POST", OutcomeUnknown)]
)
def test_what_is_no_answer_yet_does_not_count_as_one(
    status: str, method: str, kind: type[StepError]
) -> None:
    with http(f"HTTP/1.1 {status}\r\n\r\n".encode()) as (url, _), pytest.raises(kind):
        ask(url, method)


@pytest.mark.parametrize(
    "content", [b"no HTTP at all\r\n", b"HTTP/1.1 99999 x\r\n\r\n", b"\x00" * 99]
)
def test_an_answer_of_no_protocol_is_none(content: bytes) -> None:
    with http(content) as (url, _), pytest.raises(Transient):
        ask(url)


def test_a_header_that_comes_byte_by_byte_ends_at_the_deadline() -> None:
    def script(connection: socket.socket, server: Server) -> None:
        request_of(connection)
        connection.sendall(OK + b"X-Slow: ")
        # Never the end of the line.
        while connection.send(b"y"):
            connection.settimeout(0.01)
            try:
                connection.recv(1)
            except TimeoutError:
                continue

    assert isinstance(asked(script, seconds=0.5), TimedOut)


def test_a_second_packed_part_is_not_taken_for_the_whole() -> None:
    packed = gzip.compress(b"first") + gzip.compress(b"second")

    with http(answer(packed, Content_Encoding="gzip")) as (url, _):
        result = ask(url)

    assert (result["body"], result["truncated"]) == ("first", True)


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip", "zstd", "br", "compress", "x" * 999]
)
def test_a_packing_that_was_not_asked_for_is_not_unpacked(encoding: str) -> None:
    with http(answer(zlib.compress(b"x"), Content_Encoding=encoding)) as (url, _):
        assert "are not shown" in ask(url)["body"]


def test_names_of_charsets_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    real = codecs.lookup

    def lookup(name: str) -> codecs.CodecInfo:
        looked_up.append(name)
        return real(name)

    monkeypatch.setattr(codecs, "lookup", lookup)

    with http(answer(b"x", Content_Type=f"text/plain; charset={'a' * 5_000}")) as (
        url,
        _,
    ):
        assert ask(url)["body"] == "x"

    assert not [name for name in looked_up if len(name) > 100]


@pytest.mark.parametrize(
    "name",
    [
        "X-HTTP-Method-Override",
        "x-http-method",
        "X-Method-Override",
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Expect",
        "Proxy-Authorization",
        "Sec-Fetch-Site",
        "X: y\r\nHost",
        "X Y",
        "X\x00",
        "Ä",
        ":authority",
        "",
    ],
)
def test_a_header_does_not_change_what_the_request_is(name: str) -> None:
    with http(answer()) as (url, server), pytest.raises(InvalidCall):
        ask(url, headers={name: "DELETE"})

    assert server.connections == 0


@pytest.mark.parametrize(
    "value", ["a\r\nX: y", "a\nb", "a\rb", "a\x00", "a\x85b\u2028", "€"]
)
def test_the_value_of_a_header_stays_one(value: str) -> None:
    with http(answer()) as (url, server), pytest.raises(InvalidCall):
        ask(url, headers={"X-One": value})

    assert server.connections == 0


def test_nothing_is_kept_from_call_to_call() -> None:
    with http(answer(Set_Cookie="session=1; Path=/")) as (url, server):
        ask(url)
        ask(url)

    assert server.connections == 2
    assert b"cookie" not in server.received[1].lower()


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_no_proxy_of_the_environment_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http(answer(b"proxied")) as (proxy, _), http(answer(b"direct")) as (url, _):
        monkeypatch.setenv(name, proxy)
        monkeypatch.delenv("no_proxy", raising=False)

        assert ask(url)["body"] == "direct"


@pytest.mark.parametrize(
    ("host", "goes_along"),
    [
        ("a.example", True),
        ("A.EXAMPLE.", True),
        ("b.a.example", False),
        ("a.example.evil.example", False),
        ("example", False),
        ("xn--a-ecp.example", False),
    ],
)
def test_a_secret_goes_to_its_origin_alone(
    host: str, goes_along: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    moved: list[bytes] = []

    def script(connection: socket.socket, server: Server) -> None:
        moved.append(request_of(connection))
        there = f"http://{host}:{server.port}/there"
        first = len(moved) == 1
        connection.sendall(answer(b"", "302 F", Location=there) if first else answer())

    with serving(script) as server:
        url = f"http://a.example:{server.port}/"
        ask(url, headers={"Authorization": "s3cret", "X-Api-Key": "s3cret"})

    assert (moved[0].count(b"s3cret"), moved[1].count(b"s3cret")) == (
        2,
        2 * goes_along,
    )


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_acts_is_not_sent_on(status: str, method: str) -> None:
    with (
        http(answer()) as (elsewhere, other),
        http(answer(b"", status, Location=elsewhere)) as (url, _),
    ):
        result = ask(url, method, body="money")

    assert (result["ok"], other.connections) == (False, 0)
