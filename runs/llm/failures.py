"""An endpoint's refusals and accidents as the errors of `runs.errors`.

Goes by status and code; by words only where a body has no code.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from agentops import clock
from runs.canonical import Json
from runs.classify import told
from runs.errors import ContextTooLong, Fatal, NotSent, StepError, Transient

MAX_WAIT_S = 24 * 3600.0

NO_MONEY = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
TOO_LONG = frozenset(
    {
        "context_length_exceeded",
        "ContextWindowExceededError",
        "exceed_context_size_error",
    }
)
TRANSIENT = frozenset({408, 409, 425, 429})
FORBIDDEN = frozenset({401, 402, 403, 404})
ANSWERED_LATE = frozenset({504, 524})
"""Gateways that gave up waiting: the model may have answered, and be paid, since."""

_TOO_LONG_WORDS = re.compile(
    r"maximum context length|context window|context (?:size|length)|"
    r"prompt is too long|too many (?:input )?tokens|input is too long",
    re.IGNORECASE,
)
_UNSEEN = re.compile(
    r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<[/!?a-zA-Z][^<>]*>?")

NOT_CONNECTED = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
)
MISCONFIGURED = (
    httpx2.UnsupportedProtocol,
    httpx2.InvalidURL,
    httpx2.TooManyRedirects,
)


@dataclass(frozen=True)
class Told:
    """What an endpoint says about an error; "" where it says nothing."""

    message: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""

    @property
    def names(self) -> set[str]:
        return {self.code, self.kind} - {""}


def from_status(
    status: int,
    headers: Mapping[str, str],
    payload: Json,
    secrets: Iterable[str] = (),
) -> StepError:
    """The error for a reply that is not 2xx; `payload` is its JSON or its text."""
    said = read(payload)
    text = told(_sentence(f"The endpoint answered {status}", said), secrets)
    if said.names & NO_MONEY or status == 402:
        return Fatal(told(f"billing: {text}"))
    if _is_too_long(status, said):
        return ContextTooLong(text)
    if status in TRANSIENT or status >= 500:
        billed = status in ANSWERED_LATE
        wait = retry_after(headers)
        return Transient(text, retry_after=wait, maybe_billed=billed)
    return Fatal(text)


def from_error_object(payload: Json, secrets: Iterable[str] = ()) -> StepError:
    """The error for a 200 whose body is an error, or has no answer in it."""
    said = read(payload)
    text = told(_sentence("The endpoint answered without an answer", said), secrets)
    if said.names & NO_MONEY or said.code == "402":
        return Fatal(told(f"billing: {text}"))
    if said.names & TOO_LONG:
        return ContextTooLong(text)
    if said.code.isdigit() and int(said.code) in FORBIDDEN:
        return Fatal(text)
    return Transient(text, maybe_billed=True)


def from_network(
    error: BaseException, host: str, deadline_s: float, secrets: Iterable[str] = ()
) -> StepError:
    """The error for a request without a reply; `error` is httpx2's."""
    reason = told(f"{type(error).__name__}: {error}", secrets)
    if isinstance(error, MISCONFIGURED):
        return Fatal(told(f"{host} cannot be asked: {reason}"))
    if isinstance(error, NOT_CONNECTED):
        return NotSent(told(f"{host} cannot be reached: {reason}"))
    if isinstance(error, httpx2.TimeoutException):
        late = f"{host} did not answer within {deadline_s:g} s."
        return Transient(late, maybe_billed=True)
    return Transient(told(f"{host} broke off: {reason}"), maybe_billed=True)


def read(payload: Json) -> Told:
    """Message, code, type and parameter, wherever an endpoint puts them."""
    if isinstance(payload, str):
        return Told(message=plain(payload))
    if not isinstance(payload, Mapping):
        return Told()
    inner = payload.get("error", payload)
    if not isinstance(inner, Mapping):
        return Told(message=plain(str(inner or "")))
    message = inner.get("message") or inner.get("detail") or inner.get("msg") or ""
    return Told(
        message=plain(str(message)),
        code=_word(inner.get("code")),
        kind=_word(inner.get("type")),
        param=_word(inner.get("param")),
    )


def plain(text: str) -> str:
    """The words of a text that may be a web page."""
    words = text[:50_000]
    for _ in range(2):  # once more, for markup that was written as entities
        words = html.unescape(_TAG.sub(" ", _UNSEEN.sub(" ", words)))
    return " ".join(_TAG.sub(" ", words).split())


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the endpoint asks us to wait, None if it does not, or not sensibly.

    Takes `retry-after-ms`, then `retry-after` as seconds or as a date, which is
    compared with the reply's own `date` if there is one. At most a day.
    """
    ms = _positive(headers.get("retry-after-ms"))
    if ms is not None:
        return min(ms / 1000, MAX_WAIT_S)
    value = headers.get("retry-after")
    seconds = _positive(value)
    if seconds is None:
        seconds = _until(value, headers.get("date"))
    return None if seconds is None else min(seconds, MAX_WAIT_S)


def _positive(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def _until(text: str | None, date: str | None) -> float | None:
    then = _moment(text)
    if then is None:
        return None
    seconds = (then - (_moment(date) or clock.now())).total_seconds()
    return seconds if seconds > 0 else None


def _moment(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_too_long(status: int, said: Told) -> bool:
    if said.names & TOO_LONG or status == 413:
        return True
    has_code = bool(said.code) and not said.code.isdigit()
    return (
        status in (400, 422)
        and not has_code
        and _TOO_LONG_WORDS.search(said.message) is not None
    )


def _sentence(start: str, said: Told) -> str:
    about = ", ".join(
        word
        for word in (
            said.code or said.kind,
            f"parameter {said.param}" if said.param else "",
        )
        if word
    )
    head = f"{start} ({about})" if about else start
    return f"{head}: {said.message}" if said.message else f"{head}."


def _word(value: Json) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return plain(str(value))[:100]
