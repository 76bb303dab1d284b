"""Requests go to the public internet only, end in time, and are never repeated
when they may have had an effect.
"""

from __future__ import annotations

import gzip
import ipaddress
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runs.errors import InvalidCall, NotSent, OutcomeUnknown, TimedOut, Transient
from runs.tools import http_client
from runs.tools.base import Effect
from runs.tools.http_policy import is_public, parse
from runs.tools.http_request import http_request
from runs.tools.perform import perform
from runs.tools.results import for_model
from runs.tools.sockets import _addresses
from tests.runs.tools.calls import KEY, context
from tests.runs.tools.servers import Script, Server, drip, serving, stay_silent

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


# What comes back


def test_it_returns_status_headers_and_body() -> None:
    with http(answer(b"gr\xc3\xbc\xc3\x9fe", ETag='"1"', Set_Cookie="a=b")) as (
        url,
        server,
    ):
        result = ask(f"{url}/a b?q=ä&x=1#part".replace(" ", "%20"))

    assert result == {
        "ok": True,
        "status": 200,
        "reason": "OK",
        "url": f"{url}/a%20b?q=%C3%A4&x=1",
        "headers": {"content-type": "text/plain", "content-length": "7", "etag": '"1"'},
        "body": "grüße",
        "truncated": False,
    }
    head = server.received[0].decode()
    assert head.startswith("GET /a%20b?q=%C3%A4&x=1 HTTP/1.1\r\n")
    assert f"\r\nHost: 127.0.0.1:{server.port}\r\n" in head
    assert "Idempotency-Key" not in head


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "401 Who", "304 Same"])
def test_t08_what_is_no_success_is_an_error_to_the_model(status: str) -> None:
    with http(answer(b"", status)) as (url, _):
        result = ask(url)

    assert result["ok"] is False
    assert result["status"] == int(status[:3])
    assert result["error"] == (
        f"The request failed: HTTP {status[:3]}, with an empty body."
    )
    assert "The request failed" in for_model(result, 16_000, untrusted=True)


@pytest.mark.parametrize(
    ("body", "headers", "text"),
    [
        (b"\xe9t\xe9", {"Content_Type": "text/html; charset=latin-1"}, "été"),
        (b"\xe9", {"Content_Type": "text/html; charset=nonsense"}, "\ufffd"),
        (b"\xe9", {"Content_Type": "text/html; charset=hex"}, "\ufffd"),
        (b"a-b-c", {"Content_Type": "text/html; charset=punycode"}, "a-b-c"),
        (b"a", {"Content_Type": "text/html; charset=idna"}, "a"),
        (b"\x82\xa0", {"Content_Type": "text/html; charset=Shift_JIS"}, "あ"),
        (b'{"a": 1}', {"Content_Type": "application/problem+json"}, '{"a": 1}'),
        (
            b"%PDF",
            {"Content_Type": "application/pdf"},
            "(4 bytes of application/pdf are not shown)",
        ),
        (gzip.compress(b"packed"), {"Content_Encoding": "gzip"}, "packed"),
        (zlib.compress(b"packed"), {"Content_Encoding": "deflate"}, "packed"),
        (b"x", {"Content_Encoding": "br"}, "(1 bytes of text/plain are not shown)"),
        (b"a\x00b", {}, "a␀b"),
    ],
)
def test_t09_bodies_become_text(
    body: bytes, headers: dict[str, str], text: str
) -> None:
    with http(answer(body, **headers)) as (url, _):
        assert ask(url)["body"] == text


def test_t03_a_large_body_is_cut_while_it_is_read() -> None:
    with http(answer(b"x" * 3_000_000)) as (url, _):
        result = ask(url)

    assert len(result["body"]) == 1_000_000
    assert result["truncated"] is True


def test_t03_a_body_that_unpacks_to_much_more_is_cut() -> None:
    bomb = gzip.compress(b"\0" * 40_000_000)
    with http(answer(bomb, Content_Encoding="gzip", Content_Type="text/x")) as (url, _):
        result = ask(url, settings={**HERE, "max_bytes": 2_000_000})

    assert len(result["body"]) == 2_000_000
    assert result["truncated"] is True


def test_a_body_that_does_not_unpack_is_left_out() -> None:
    with http(answer(b"no gzip", Content_Encoding="gzip")) as (url, _):
        result = ask(url)

    assert (result["body"], result["truncated"]) == ("", True)


@pytest.mark.parametrize(
    "content",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", b"", b"rubbish\r\n\r\n"],
)
def test_a_broken_answer_to_a_reading_request_is_tried_again(content: bytes) -> None:
    with http(content) as (url, _), pytest.raises(Transient):
        ask(url)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({}, None),
        ({"Retry_After": "soon"}, None),
        (
            {
                "Retry_After": "Sat, 30 Nov 2024 12:01:00 GMT",
                "Date": "Sat, 30 Nov 2024 12:00:00 GMT",
            },
            60.0,
        ),
    ],
)
def test_a_busy_server_is_asked_again_when_it_says(
    headers: dict[str, str], wait: float | None
) -> None:
    busy = answer(b"", "503 Busy", **headers)

    with http(busy) as (url, _), pytest.raises(Transient) as caught:
        ask(url)

    assert caught.value.retry_after == wait


# Where it goes


FORBIDDEN = [
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1%25eth0]/",
    "http://0.0.0.0/",
    "http://0/",
    "http://100.64.0.1/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::1]/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://x.localhost/",
    "http://metadata.google.internal/",
    "http://metadata.google.internal./",
    "http://printer.local/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:25/_HELO",
    "ftp://example.com/",
    "//example.com/",
    "http:///x",
    "http://",
    "http://user:secret@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://exa mple.com/",
    "http://example.com/\r\nX: y",
    "http://[::1/",
    "http://" + "a" * 300 + ".com/",
    "http://-/",
]


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError(f"a connection was made: {args}")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_connection")
@pytest.mark.parametrize("url", FORBIDDEN)
def test_s07_no_spelling_of_an_inside_address_is_connected_to(url: str) -> None:
    with pytest.raises(InvalidCall):
        ask(url, settings={})


@pytest.mark.usefixtures("no_connection")
@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:127.0.0.1"], ["fe80::1%2"]],
)
def test_s07_a_name_with_one_inside_address_is_refused(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, addresses)

    with pytest.raises(InvalidCall, match="not a public address"):
        ask("http://innocent.example/", settings={})


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[Any]:
    """The n-th look-up gives the n-th answer; returns the hosts looked up."""
    asked: list[Any] = []

    def getaddrinfo(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in found]

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:4700::1", True),
        ("64:ff9b::5db8:d70e", True),
        ("2002:5db8:d70e::1", True),
        ("2001:db8::1", False),
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
    ],
)
def test_s07_public_addresses_are_told_from_others(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


def test_s07_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with http(answer()) as (_, server):
        monkeypatch.setattr(
            socket, "create_connection", _only_to("93.184.215.14", server.port)
        )
        asked = resolving(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])

        result = ask("http://rebinding.example/", settings={})

    assert result["body"] == "hello"
    assert asked == ["rebinding.example"]
    assert b"\r\nHost: rebinding.example\r\n" in server.received[0]


def _only_to(address: str, port: int) -> Callable[..., socket.socket]:
    def connect(where: tuple[str, int], timeout: float) -> socket.socket:
        assert where == (address, 80)
        connection = socket.socket()
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", port))
        return connection

    return connect


def test_s05_a_redirect_to_an_inside_address_is_not_followed() -> None:
    with socket.create_server(("127.0.0.2", 0)) as inside:
        inside.settimeout(0.3)
        port = inside.getsockname()[1]
        moved = answer(b"", "302 Found", Location=f"http://127.0.0.2:{port}/secret")
        with http(moved) as (url, server), pytest.raises(InvalidCall, match="public"):
            ask(url)

        with pytest.raises(TimeoutError):
            inside.accept()
    assert server.connections == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://[::1]/",
        "http://localhost/",
        "http://0x7f.1/",
        "http://[",
    ],
)
def test_s05_every_hop_is_checked(location: str) -> None:
    moved = answer(b"", "307 Moved", Location=location)

    with http(moved) as (url, server), pytest.raises(InvalidCall):
        ask(url)

    assert server.connections == 1


def test_s05_the_number_of_hops_is_limited() -> None:
    moved = answer(b"", "302 Found", Location="/again")

    with http(moved) as (url, server), pytest.raises(InvalidCall, match="5 redirects"):
        ask(url)

    assert server.connections == 6


def test_a_redirect_is_followed_without_what_may_be_secret() -> None:
    with http(answer(b"there")) as (there, second):
        moved = answer(b"", "301 Moved", Location=f"{there}/new")
        with http(moved) as (url, first):
            headers = {"Authorization": "Bearer x", "Accept": "text/plain"}
            result = ask(url, headers=headers)

    assert result["body"] == "there"
    assert result["url"] == f"{there}/new"
    assert b"Authorization: Bearer x" in first.received[0]
    assert b"Authorization" not in second.received[0]
    assert b"Accept: text/plain" in second.received[0]


def test_an_acting_request_is_not_redirected() -> None:
    moved = answer(b"", "307 Moved", Location="/again")
    with http(moved) as (url, server):
        result = ask(url, "POST", body="x")

    assert (result["status"], result["ok"]) == (307, False)
    assert result["headers"]["location"] == "/again"
    assert server.connections == 1


def test_an_admin_may_allow_some_hosts_only() -> None:
    allowed = {**HERE, "allow_hosts": ["api.example.com", "*.partner.example"]}
    call = {"method": "GET", "url": "https://other.example/"}

    with pytest.raises(InvalidCall, match=r"may not go to other\.example"):
        http_request.vet(call, allowed)
    for host in ("api.example.com", "x.partner.example"):
        call = {"method": "GET", "url": f"https://{host}/"}
        http_request.vet(call, allowed)


def test_a_host_that_does_not_exist_is_told_to_the_model() -> None:
    with pytest.raises((InvalidCall, NotSent)):
        ask("http://no-such-host.invalid/", settings={})


# What it says


def test_the_body_and_the_key_are_sent() -> None:
    headers = {"X-A": "1", "user-agent": "mine"}
    with http(answer(status="201 Created")) as (url, server):
        result = ask(url, "post", body={"b": 1, "a": "ä"}, headers=headers)

    head, _, body = server.received[0].partition(b"\r\n\r\n")
    assert result["status"] == 201
    assert head.startswith(b"POST / HTTP/1.1")
    assert b"Content-Type: application/json" in head
    assert b"X-A: 1" in head
    assert head.lower().count(b"user-agent: ") == 1
    assert f"Idempotency-Key: {KEY}".encode() in head
    assert json.loads(body) == {"a": "ä", "b": 1}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "other.example"},
        {"Content-Length": "0"},
        {"transfer-encoding": "chunked"},
        {"Idempotency-Key": "mine"},
        {"Proxy-Authorization": "x"},
        {"X": "a\r\nHost: b"},
        {"X: y\r\nZ": "a"},
        {"": "a"},
        {"X": "\u2028"},
    ],
)
def test_headers_that_would_change_the_request_are_refused(
    headers: dict[str, str],
) -> None:
    with pytest.raises(InvalidCall, match="header"):
        ask("http://127.0.0.1/", headers=headers)


@pytest.mark.parametrize(
    ("method", "effect"),
    [
        ("GET", Effect.READ),
        ("head", Effect.READ),
        ("POST", Effect.IRREVERSIBLE),
        ("DELETE", Effect.IRREVERSIBLE),
    ],
)
def test_its_effect_depends_on_the_method(method: str, effect: Effect) -> None:
    arguments = http_request.validate({"method": method, "url": "https://a.example"})

    assert http_request.effect_for(arguments) is effect


def test_it_says_what_it_will_do() -> None:
    call = {"method": "POST", "url": "https://a.example/x", "body": {"a": 1}}
    arguments = http_request.validate({**call, "headers": {"X-A": "1"}})

    preview = http_request.preview(arguments, context())  # type: ignore[misc]

    assert http_request.words(arguments) == "POST to https://a.example/x"
    assert ("Body", '{"a":1}', "json") in preview.fields
    assert ("Headers", '{"X-A":"1"}', "json") in preview.fields
    assert preview.warning


def test_its_results_are_untrusted() -> None:
    assert http_request.untrusted is True


# When it goes wrong


def silent(connection: socket.socket, server: Server) -> None:
    request_of(connection)
    stay_silent(connection)


def dripping(connection: socket.socket, server: Server) -> None:
    request_of(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    drip(connection)


def hanging_up(connection: socket.socket, server: Server) -> None:
    request_of(connection)


@pytest.mark.parametrize("script", [silent, dripping])
def test_t04_a_reading_request_ends_at_its_deadline(script: Script) -> None:
    started = time.monotonic()

    with serving(script) as server, pytest.raises(TimedOut):
        ask(f"http://127.0.0.1:{server.port}/", seconds=0.5)

    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize("script", [silent, hanging_up])
def test_t04_an_acting_request_without_an_answer_is_of_unknown_outcome(
    script: Script,
) -> None:
    with serving(script) as server, pytest.raises(OutcomeUnknown):
        ask(f"http://127.0.0.1:{server.port}/", "POST", seconds=0.5)

    assert server.connections == 1


def test_an_answer_to_an_acting_request_counts_even_if_its_body_breaks_off() -> None:
    with serving(dripping) as server:
        result = ask(f"http://127.0.0.1:{server.port}/", "POST", seconds=0.5)

    assert (result["status"], result["truncated"]) == (200, True)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refused_connection_sent_nothing(method: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(NotSent):
        ask(f"http://127.0.0.1:{port}/", method)


@pytest.mark.parametrize(("method", "error"), [("GET", TimedOut), ("POST", NotSent)])
def test_a_slow_look_up_ends_at_the_deadline(
    method: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def slow(*args: Any, **kwargs: Any) -> list[Any]:
        release.wait(10)
        return []

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", slow)
    started = time.monotonic()
    try:
        with pytest.raises(error):
            ask("http://slow.example/", method, seconds=0.3)
    finally:
        release.set()

    assert time.monotonic() - started < 1.3


def test_a_temporary_failure_to_look_up_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*args: Any, **kwargs: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", failing)

    with pytest.raises(NotSent, match="could not be resolved"):
        ask("http://some.example/")


# TLS


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Key and certificate of pinned.example in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=pinned.example", "-days", "2"]
    names = ["-addext", "subjectAltName=DNS:pinned.example"]
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes"),
            *("-keyout", str(key), "-out", str(made), *subject, *names),
        ],
        check=True,
        capture_output=True,
    )
    both = tmp_path / "both.pem"
    both.write_text(key.read_text() + made.read_text())
    return both


@contextmanager
def https(certificate: Path) -> Iterator[tuple[Server, list[str | None]]]:
    names: list[str | None] = []
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.sni_callback = lambda channel, name, _: names.append(name)

    def script(connection: socket.socket, server: Server) -> None:
        with tls.wrap_socket(connection, server_side=True) as channel:
            answering(answer(b"secret"))(channel, server)

    with serving(script) as server:
        yield server, names


def test_tls_is_checked_against_the_name_not_the_address(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(http_client, "_tls", lambda: trusting)
    resolving(monkeypatch, ["127.0.0.1"])
    with https(certificate) as (server, names):
        result = ask(f"https://pinned.example:{server.port}/")
        with pytest.raises(InvalidCall, match="certificate"):
            ask(f"https://other.example:{server.port}/")

    assert result["body"] == "secret"
    assert names == ["pinned.example", "other.example"]


def test_a_certificate_nobody_vouches_for_is_refused(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["127.0.0.1"])

    with https(certificate) as (server, _), pytest.raises(InvalidCall):
        ask(f"https://pinned.example:{server.port}/", "POST")

    assert server.received == []


def test_a_redirect_to_plain_http_is_refused(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(http_client, "_tls", lambda: trusting)
    resolving(monkeypatch, ["127.0.0.1"])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    moved = answer(b"", "302 Found", Location="http://pinned.example/")

    def script(connection: socket.socket, server: Server) -> None:
        with tls.wrap_socket(connection, server_side=True) as channel:
            answering(moved)(channel, server)

    with serving(script) as server, pytest.raises(InvalidCall, match="https to http"):
        ask(f"https://pinned.example:{server.port}/")


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("http://example.com:80/a?b#c", "http://example.com/a?b"),
        ("http://example.com.:8080/", "http://example.com:8080/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[2606:4700::0001]/", "http://[2606:4700::1]/"),
        ("http://a.example/%2e%2E/x%20y", "http://a.example/%2e%2E/x%20y"),
    ],
)
def test_urls_have_one_form(url: str, parsed: str) -> None:
    assert parse(url).url == parsed
    assert parse(parsed).url == parsed


def test_the_resolver_names_each_address_once() -> None:
    assert [str(address) for address in _addresses("127.0.0.1", 80)] == ["127.0.0.1"]
