"""The tool that makes an HTTP request to the public internet."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPMessage
from typing import Annotated, Literal
from urllib.parse import urljoin

from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt

from runs.canonical import Json, dumps, shorten
from runs.errors import InvalidCall, NotSent, TimedOut, Transient
from runs.tools.base import MAX_TEXT, Arguments, Context, Effect, Preview, tool
from runs.tools.choices import Choices
from runs.tools.http_client import Reply, Request, exchange
from runs.tools.http_policy import MAX_URL, Policy, Target, parse
from runs.tools.sockets import Address

READING = {"GET", "HEAD"}
MAX_REDIRECTS = 5
MAX_RESULT_BYTES = 1_000_000
_REDIRECTS = {301, 302, 303, 307, 308}
_LATER = {429, 502, 503, 504}
_SHOWN = ("content-type", "content-length", "last-modified", "etag", "location")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]{0,4000}")
_OURS = {
    *("host", "connection", "keep-alive", "te", "trailer", "transfer-encoding"),
    *("upgrade", "expect", "content-length", "accept-encoding", "idempotency-key"),
    # A reading request that the server takes for an acting one.
    *("x-http-method-override", "x-http-method", "x-method-override"),
}
# Kept when a redirect leads to another origin; the rest may hold secrets.
_HARMLESS = {"accept", "accept-language"}
_CHARSET = re.compile(r"utf-(8|16|32)|ascii|latin|iso|cp\d|koi8|gb|big5|euc|shift|mac")
# Python remembers every name that it has looked for.
_CHARSET_NAME = re.compile(r"[\w.:-]{1,30}", re.ASCII)
_TEXTUAL = re.compile(r"text/|.*[/+](json|xml|javascript|yaml|x-www-form-urlencoded)$")


def _url(text: str) -> str:
    return parse(text).url


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _header_lines(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"{shorten(name, 100)} is not a valid header")
        if name.lower() in _OURS or name.lower().startswith(("proxy-", "sec-")):
            raise ValueError(f"the header {name} is set by us")
    return headers


Method = Annotated[
    Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], BeforeValidator(_upper)
]
Url = Annotated[
    str,
    Field(max_length=MAX_URL, examples=["https://example.com/"]),
    AfterValidator(_url),
]
Headers = Annotated[dict[str, str], Field(max_length=30), AfterValidator(_header_lines)]
Body = Annotated[str, Field(max_length=MAX_TEXT)] | dict[str, Json] | list[Json] | None


def _effect(arguments: Arguments) -> Effect:
    reads = arguments["method"] in READING
    return Effect.READ if reads else Effect.IRREVERSIBLE


def _describe(arguments: Arguments) -> str:
    to = "" if arguments["method"] in READING else " to"
    return f"{arguments['method']}{to} {shorten(arguments['url'], 200)}"


def _preview(arguments: Arguments, context: Context) -> Preview:
    rows = [("Method", arguments["method"], "text"), ("URL", arguments["url"], "url")]
    if arguments.get("headers"):
        rows.append(("Headers", dumps(arguments["headers"]), "json"))
    body = arguments.get("body")
    if isinstance(body, str) and body:
        rows.append(("Body", body, "code"))
    elif body:
        rows.append(("Body", dumps(body), "json"))
    acts = _effect(arguments) is Effect.IRREVERSIBLE
    warning = "What the other side does with it cannot be called back." if acts else ""
    return Preview(headline=_describe(arguments), fields=tuple(rows), warning=warning)


def _check(arguments: Arguments, settings: Mapping[str, Json]) -> None:
    Policy.of(settings).check(parse(arguments["url"]))


class RequestChoices(Choices):
    """`allow_hosts`: if given, only these; `allow_private`: names, addresses and
    networks inside that may be reached; `max_bytes` of a body.
    """

    allow_hosts: list[str] = []
    allow_private: list[str] = []
    max_bytes: PositiveInt = MAX_RESULT_BYTES


@tool(
    effect=Effect.IRREVERSIBLE,
    choices=RequestChoices,
    effect_of=_effect,
    describe=_describe,
    preview=_preview,
    check=_check,
    untrusted=True,
)
def http_request(
    method: Method,
    url: Url,
    context: Context,
    headers: Headers = {},  # noqa: B006 - pydantic copies it
    body: Body = None,
) -> dict[str, Json]:
    """Make an HTTP request to a public address and return status, headers and body.

    GET and HEAD read and follow redirects; other methods act and do not. An object
    or a list as `body` is sent as JSON.
    """
    policy = Policy.of(context.settings)
    limit = int(context.settings.get("max_bytes", MAX_RESULT_BYTES))
    target = parse(url)
    request = _request(method, headers, body, context)
    for _ in range(MAX_REDIRECTS + 1):
        addresses = _addresses(policy, target, request, context)
        reply = exchange(target, request, addresses, context.deadline, limit)
        onward = _redirected(target, request, reply)
        if onward is None:
            _raise_if_later_may_work(request, reply)
            return _result(target, request, reply)
        request = _forwarded(request, target, onward)
        target = onward
    raise InvalidCall(f"There were more than {MAX_REDIRECTS} redirects.")


def _request(
    method: str, headers: dict[str, str], body: Body, context: Context
) -> Request:
    reads = method in READING
    sent = dict(headers)
    if not reads:
        sent["Idempotency-Key"] = context.key
    if isinstance(body, dict | list):
        if "content-type" not in {name.lower() for name in sent}:
            sent["Content-Type"] = "application/json"
        return Request(method, sent, dumps(body).encode(), reads)
    return Request(method, sent, body.encode() if body else None, reads)


def _addresses(
    policy: Policy, target: Target, request: Request, context: Context
) -> list[Address]:
    try:
        return policy.addresses(target, context.deadline)
    except TimedOut as error:
        if request.reads:
            raise
        raise NotSent(error.message) from error


def _redirected(target: Target, request: Request, reply: Reply) -> Target | None:
    """Where a reading request is to go next; raises `InvalidCall`."""
    location = reply.headers.get("Location")
    if not request.reads or reply.status not in _REDIRECTS or not location:
        return None
    try:
        onward = parse(urljoin(target.url, location.strip()))
    except ValueError as error:
        raise InvalidCall(f"{target.origin} redirects, but {error}.") from None
    if target.scheme == "https" and onward.scheme == "http":
        raise InvalidCall(f"{target.origin} redirects from https to http.")
    return onward


def _forwarded(request: Request, target: Target, onward: Target) -> Request:
    if onward.origin == target.origin:
        return request
    kept = {n: v for n, v in request.headers.items() if n.lower() in _HARMLESS}
    return Request(request.method, kept, None, request.reads)


def _raise_if_later_may_work(request: Request, reply: Reply) -> None:
    if request.reads and reply.status in _LATER:
        raise Transient(
            f"The server answered {reply.status} {shorten(reply.reason, 100)}.",
            retry_after=_retry_after(reply.headers),
        )


def _retry_after(headers: HTTPMessage) -> float | None:
    """Seconds to wait. A date is taken against the server's own clock."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    until, now = _date(value), _date(headers.get("Date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else None


def _result(target: Target, request: Request, reply: Reply) -> dict[str, Json]:
    """The answer for the model; anything but a 2xx has an `error`."""
    shown = {n: reply.headers[n] for n in _SHOWN if n in reply.headers}
    result: dict[str, Json] = {
        "ok": 200 <= reply.status < 300,
        "status": reply.status,
        "reason": reply.reason,
        "url": target.url,
        "headers": shown,
        "body": _text(reply),
        "truncated": not reply.complete,
    }
    if not result["ok"]:
        empty = "" if reply.body or request.method == "HEAD" else ", with an empty body"
        result["error"] = f"The request failed: HTTP {reply.status}{empty}."
    return result


def _text(reply: Reply) -> str:
    kind = reply.headers.get_content_type()
    packed = reply.headers.get("Content-Encoding", "identity").strip().lower()
    known = packed in {"", "identity", "gzip", "x-gzip", "deflate"}
    if reply.body and not (known and _TEXTUAL.match(kind)):
        return f"({len(reply.body)} bytes of {shorten(kind, 100)} are not shown)"
    return reply.body.decode(_charset(reply.headers), errors="replace")


def _charset(headers: HTTPMessage) -> str:
    """The charset that is named, unless it is none or one of Python's own codecs."""
    said = headers.get_content_charset("utf-8")
    if not _CHARSET_NAME.fullmatch(said):
        return "utf-8"
    try:
        name = codecs.lookup(said).name
    except (LookupError, ValueError):
        return "utf-8"
    return name if _CHARSET.match(name) else "utf-8"
