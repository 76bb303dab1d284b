"""What http_request sends, and what of the answer comes back."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from runs.errors import InvalidCall, Transient
from runs.tools.base import Effect
from runs.tools.http_request import http_request
from runs.tools.results import for_model
from tests.runs.tools.calls import KEY, context
from tests.runs.tools.web import HERE, answer, ask, http

pytestmark = pytest.mark.once


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
        (gzip.compress(b"packed", mtime=0), {"Content_Encoding": "gzip"}, "packed"),
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
