"""Cases A on the wire: what proxies, balancers and dying servers send, byte by byte."""

from __future__ import annotations

import gzip
import socket

import pytest

from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Attempt
from tests.support import wire
from tests.support.advance import advance, settle
from tests.support.provider import ScriptedProvider
from tests.support.replies import Answer, error, raw, text

pytestmark = [pytest.mark.django_db, pytest.mark.once]

OK = text("Done.")
GOOD = wire.http(OK)
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
BODY = b"%x\r\n%s\r\n" % (len(OK.body), OK.body)
PACKED = ["content-encoding: gzip"]


def packed(body: bytes) -> bytes:
    return wire.http(Answer(body=body), headers=PACKED)


def play(run, *script):
    with wire.served(*script) as url:
        client = OpenAIClient(url, "sk-test")
        with using(client):
            run = settle(run)
        client.close()
    return run


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(wire.Sent(b"", resets=True), id="reset"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncont", id="head cut"),
        pytest.param(wire.Sent(GOOD[:60], resets=True), id="reset in the head"),
        pytest.param(wire.Sent(GOOD[:-20], resets=True), id="reset in the body"),
        pytest.param(GOOD[:-20], id="body cut"),
        pytest.param(wire.http(OK, length=9), id="length too short"),
        pytest.param(wire.http(OK, length=-5), id="length below zero"),
        pytest.param(wire.http(OK, headers=["content-length: 3"]), id="two lengths"),
        pytest.param(CHUNKED + BODY, id="chunks without an end"),
        pytest.param(CHUNKED + b"zz\r\nx\r\n", id="a chunk of no size"),
        pytest.param(CHUNKED + b"fffffffff\r\nx\r\n", id="a chunk without end"),
        pytest.param(wire.http(OK, headers=["x: " + "y" * 200_000]), id="long header"),
        pytest.param(wire.http(OK, headers=["no header"]), id="no header"),
        pytest.param(wire.http(OK, headers=["x: a\x00b"]), id="NUL"),
        pytest.param(b"\x15\x03\x01\x00\x02\x02\x46", id="TLS"),
        pytest.param(b"220 ready\r\n", id="another protocol"),
        pytest.param(b"HTTP/2 200\r\n\r\n", id="another version"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n", id="101"),
        pytest.param(b"HTTP/1.1 000 Odd\r\n\r\n", id="status 0"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="204"),
        pytest.param(wire.http(error(503, headers={"retry-after": "\xff"})), id="hint"),
        pytest.param(packed(OK.body), id="not packed"),
        pytest.param(packed(gzip.compress(OK.body)[:40]), id="packed and cut"),
    ],
)
def test_a14_what_is_no_reply_at_all_is_tried_again(run, configured, reply):
    configured(backoff_base_s=0.01)

    run = play(run, reply, GOOD)

    assert (run.state, run.output) == ("completed", "Done.")
    assert Attempt.objects.get().error_class == "transient"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(wire.http(OK, length=-1), id="no length"),
        pytest.param(CHUNKED + BODY + b"0\r\n\r\n", id="chunks"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 9 + GOOD, id="100"),
        pytest.param(b"HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + GOOD, id="103"),
        pytest.param(wire.http(OK, headers=["x: " + "y" * 9000] * 9), id="headers"),
        pytest.param(wire.http(OK, headers=["x: \xff"]), id="latin-1"),
        pytest.param(packed(gzip.compress(OK.body)), id="gzip"),
        pytest.param(wire.http(raw(b"\xef\xbb\xbf" + OK.body)), id="byte order mark"),
        pytest.param(wire.http(raw(OK.body, "text/html; charset=utf-99")), id="type"),
    ],
)
def test_a14_a_whole_reply_is_read_however_it_is_wrapped(run, reply):
    run = play(run, reply)

    assert (run.output, run.steps.get().attempts) == ("Done.", 1)


@pytest.mark.parametrize("status", [200, 500])
def test_a14_a_reply_that_unpacks_without_end_is_left(
    run, configured, monkeypatch, status
):
    configured(backoff_base_s=0.01)
    monkeypatch.setattr("runs.llm.transport.MAX_REPLY_BYTES", 10**5)
    bomb = Answer(gzip.compress(b"[" * 10**7), status)

    run = play(run, wire.http(bomb, headers=PACKED), GOOD)

    assert run.state == "completed"
    assert "too long" in Attempt.objects.get().error_text


def test_a16_a_head_that_drips_ends_at_the_deadline(run, configured):
    configured(model_deadline_s=0.3, backoff_base_s=0.01)

    with (
        wire.served(wire.Sent(GOOD, pause_s=0.05), GOOD) as url,
        using(OpenAIClient(url, "sk-test")),
    ):
        run = settle(advance(run))

    assert run.state == "completed"
    assert "did not answer within 0.3 s" in Attempt.objects.get().error_text


def redirect(to: str, status: int = 307) -> bytes:
    return (
        f"HTTP/1.1 {status} Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n"
        "connection: close\r\n\r\n"
    ).encode("latin-1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a08_a_redirect_takes_the_key_nowhere_else(run, configured, status, host):
    configured(max_attempts=1)
    there = ScriptedProvider(then=text("Done."), strict=False)

    with there.serve() as target:
        elsewhere = target.replace("127.0.0.1", host) + "/chat/completions"
        run = play(run, redirect(elsewhere, status))

    seen = [str(request.headers) for request in there.requests]
    assert "sk-test" not in "".join(seen)
    assert run.state == ("completed" if status > 303 else "awaiting_human")


@pytest.mark.parametrize(
    ("to", "park"),
    [
        ("file:///etc/passwd", "fatal"),
        ("gopher://127.0.0.1/x", "fatal"),
        ("http://[::1", "retries"),
        ("//", "retries"),
        ("http://a\xff b/", "retries"),
    ],
)
def test_a14_a_redirect_to_nowhere_parks(run, configured, to, park):
    configured(max_attempts=1)

    run = play(run, redirect(to))

    assert run.park_reason == park


def test_a14_redirects_without_end_park(run):
    circle = redirect("/v1/chat/completions")

    run = play(run, *[circle] * 30)

    assert run.park_reason == "fatal"
    assert "TooManyRedirects" in run.park["error"]["text"]


def test_a14_tls_to_a_port_that_speaks_none_was_not_sent(run, configured):
    configured(max_attempts=1)

    with (
        wire.served(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url,
        using(OpenAIClient(url.replace("http:", "https:"), "sk-test")),
    ):
        run = settle(run)

    assert run.park_reason == "retries"
    assert "cannot be reached" in run.park["error"]["text"]
    assert run.tokens == 0


def test_a14_a_port_where_nobody_listens_was_not_sent(run, configured):
    configured(max_attempts=2, backoff_base_s=0.01)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with using(OpenAIClient(f"http://127.0.0.1:{port}/v1", "sk-test")):
        run = settle(run)

    assert (run.park_reason, run.steps.get().attempts) == ("retries", 2)
    assert (run.tokens, run.cost) == (0, 0)
