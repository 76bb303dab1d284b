"""Requests end in time, and a doubtful one is never made twice."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runs.errors import InvalidCall, NotSent, OutcomeUnknown, TimedOut
from runs.tools import http_client
from tests.runs.tools.servers import Script, Server, drip, serving, stay_silent
from tests.runs.tools.web import answer, answering, ask, request_of, resolving
from tests.support.wait import HANGS_S, cut_short

pytestmark = pytest.mark.once


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
    with cut_short(), serving(script) as server, pytest.raises(TimedOut):
        ask(f"http://127.0.0.1:{server.port}/", seconds=0.5)


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
        release.wait(HANGS_S)
        return []

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", slow)
    try:
        with cut_short(), pytest.raises(error):
            ask("http://slow.example/", method, seconds=0.3)
    finally:
        release.set()


def test_a_temporary_failure_to_look_up_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*args: Any, **kwargs: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    monkeypatch.setattr("runs.tools.sockets.socket.getaddrinfo", failing)

    with pytest.raises(NotSent, match="could not be resolved"):
        ask("http://some.example/")


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
