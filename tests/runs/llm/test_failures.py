"""Statuses and accidents become what happens next."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest

from agentops import clock
from runs.errors import ContextTooLong, Fatal, NotSent, StepError, Transient
from runs.llm.failures import from_network, from_status, plain, retry_after


def said(**error: Any) -> dict[str, Any]:
    return {"error": {"message": "It did not work."} | error}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, Fatal),
        (401, Fatal),
        (402, Fatal),
        (403, Fatal),
        (404, Fatal),
        (405, Fatal),
        (422, Fatal),
        (408, Transient),
        (409, Transient),
        (425, Transient),
        (429, Transient),
        (500, Transient),
        (502, Transient),
        (503, Transient),
        (529, Transient),
        (413, ContextTooLong),
    ],
)
def test_it_goes_by_status(status: int, expected: type[StepError]) -> None:
    found = from_status(status, {}, said())

    assert type(found) is expected
    assert str(status) in found.message
    assert "It did not work." in found.message


@pytest.mark.parametrize("field", ["code", "type"])
def test_a04_no_money_is_fatal_and_says_billing(field: str) -> None:
    found = from_status(429, {}, said(**{field: "insufficient_quota"}))

    assert type(found) is Fatal
    assert "billing" in found.message


def test_a06_the_context_is_known_by_its_code() -> None:
    found = from_status(400, {}, said(code="context_length_exceeded"))

    assert type(found) is ContextTooLong


@pytest.mark.parametrize("code", [None, 400, "400"])
def test_a06_words_count_only_where_there_is_no_code(code: Any) -> None:
    message = "This model's maximum context length is 8192 tokens."

    without = from_status(400, {}, said(code=code, message=message))
    with_code = from_status(400, {}, said(code="invalid_api_key", message=message))

    assert type(without) is ContextTooLong
    assert type(with_code) is Fatal


def test_a10_it_names_the_parameter() -> None:
    found = from_status(400, {}, said(code="unsupported_parameter", param="max_tokens"))

    assert type(found) is Fatal
    assert "max_tokens" in found.message


def test_a08_no_key_is_in_the_text() -> None:
    body = said(message="Incorrect API key provided: my-own-key. Or sk-other123456.")

    found = from_status(401, {}, body, ["my-own-key"])

    assert "my-own-key" not in found.message
    assert "other123456" not in found.message


def test_a13_a_page_becomes_a_few_words() -> None:
    page = (
        "<html><head><title>x</title><style>b{}</style></head><body><script>alert(1)"
        "</script><h1>502 Bad&nbsp;Gateway</h1>&lt;img src=x&gt;" + "<p>word" * 900
    )

    found = from_status(502, {}, page)

    assert type(found) is Transient
    assert "502 Bad Gateway" in found.message
    assert "<" not in found.message
    assert "alert" not in found.message
    assert len(found.message) <= 500


@pytest.mark.parametrize(
    "payload", [None, [], 3, "", {"detail": "no"}, {"error": None}, {"error": "no"}]
)
def test_any_body_will_do(payload: Any) -> None:
    assert type(from_status(503, {}, payload)) is Transient


def test_a_gateway_that_gave_up_may_have_been_billed() -> None:
    late, busy = (from_status(status, {}, "") for status in (504, 503))

    assert isinstance(late, Transient)
    assert late.maybe_billed
    assert isinstance(busy, Transient)
    assert not busy.maybe_billed


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1"}, 1),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "999999999"}, 86400),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 99 Foo 2026 99:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_a01_it_reads_how_long_to_wait(
    headers: dict[str, str], seconds: float | None
) -> None:
    found = from_status(429, headers, said())

    assert isinstance(found, Transient)
    assert found.retry_after == seconds


def test_a02_a_date_is_compared_with_the_replys_own() -> None:
    headers = {
        "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT",
        "date": "Wed, 21 Oct 2026 07:27:30 GMT",
    }

    assert retry_after(headers) == 30


def test_a02_a_date_alone_is_compared_with_the_clock() -> None:
    then = clock.now() + timedelta(seconds=40)

    found = retry_after({"retry-after": format_datetime(then, usegmt=True)})

    assert found == pytest.approx(40, abs=2)


def test_a02_a_date_gone_by_asks_for_nothing() -> None:
    then = clock.now() - timedelta(seconds=40)

    assert retry_after({"retry-after": format_datetime(then, usegmt=True)}) is None


@pytest.mark.parametrize(
    ("error", "expected", "billed"),
    [
        (httpx2.ConnectError("refused"), NotSent, False),
        (httpx2.ConnectTimeout("late"), NotSent, False),
        (httpx2.ProxyError("403"), NotSent, False),
        (httpx2.ReadTimeout("late"), Transient, True),
        (httpx2.WriteTimeout("late"), Transient, True),
        (httpx2.ReadError("reset"), Transient, True),
        (httpx2.RemoteProtocolError("cut"), Transient, True),
        (httpx2.DecodingError("gzip"), Transient, True),
    ],
)
def test_it_tells_whether_a_lost_call_may_have_been_billed(
    error: Exception, expected: type[StepError], billed: bool
) -> None:
    found = from_network(error, "host.example", 120)

    assert type(found) is expected
    assert isinstance(found, Transient)
    assert found.maybe_billed is billed


def test_an_address_that_cannot_be_asked_is_fatal() -> None:
    assert type(from_network(httpx2.UnsupportedProtocol("ftp"), "x", 1)) is Fatal


def test_plain_keeps_text_that_is_no_markup() -> None:
    assert plain("if a < b and c > d") == "if a < b and c > d"
