"""The values this installation keeps secret, in every form in which they may travel.

Found by name, in the settings and in the environment: whatever ends in KEY, TOKEN,
SECRET, PASSWORD or PASS, and the passwords within the addresses of databases and services.
A value that is short or plain ("demo", "postgres") is none that can be hidden: it
would take ordinary words out of every text.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

KIND = "a secret of this installation"
SHORTEST = 8
LONG = 20
"""From here on letters alone will do: no word is so long."""
DISTINCT = 5

_NAME = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE"
    r"|(?:^|_)(?:API)?KEYS?|(?:^|_)(?:PWD|PASS|CREDENTIALS?|FALLBACKS))(?:_ID)?$"
)
"""PGPASSWORD and APIKEY as well; MONKEY is none."""
_ADDRESS = re.compile(r"(?:^|_)(?:URL|URI|DSN)$")

_told: dict[str, str] = {}


def known() -> Mapping[str, str]:
    """Each form of each value, with its kind; the longest come first."""
    return _known() | _told if _told else _known()


def learn(value: str) -> None:
    """Hide this from now on in this process: what is secret and kept in a row."""
    for form in forms(value):
        _told[form] = KIND


def forget() -> None:
    """Read settings and environment anew, and forget what was learnt."""
    _known.cache_clear()
    _told.clear()


def is_worth_hiding(value: str) -> bool:
    """Can it be told from words, numbers and paths?"""
    if len(value) < SHORTEST or len(set(value)) < DISTINCT:
        return False
    if value.startswith(("/", "./", "~")) or any(c.isspace() for c in value):
        return False
    both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return both or len(value) >= LONG


def forms(value: str) -> set[str]:
    """As itself, in an address, in JSON, on a page, and within base64 at each of the three
    places where it may begin; nothing for what is not worth hiding."""
    if not is_worth_hiding(value):
        return set()
    quoted = {quote(value, safe=""), quote_plus(value), quote(value)}
    lower = {re.sub("%[0-9A-F]{2}", lambda m: m[0].lower(), q) for q in quoted}
    in_json = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return {value, escape(value), *quoted, *lower, *in_json, *_encoded(value.encode())}


def _encoded(raw: bytes) -> Iterator[str]:
    """The characters of base64 that depend on these bytes alone."""
    for before in range(3):
        padded = bytes(before) + raw
        text = base64.b64encode(padded[: len(padded) // 3 * 3]).decode()
        middle = text[(before * 8 + 5) // 6 :]
        yield middle
        yield middle.replace("+", "-").replace("/", "_")


@cache
def _known() -> dict[str, str]:
    found = {form for value in _secrets() for form in forms(value)}
    return dict.fromkeys(sorted(found, key=lambda form: (-len(form), form)), KIND)


def _secrets() -> Iterator[str]:
    for name, value in [*os.environ.items(), *_settings()]:
        yield from _within(name, value)


def _settings() -> Iterator[tuple[str, Any]]:
    from django.conf import settings

    for name in dir(settings):
        if name.isupper() and (_NAME.search(name) or _ADDRESS.search(name)):
            yield name, getattr(settings, name)
    for database in settings.DATABASES.values():
        yield "PASSWORD", database.get("PASSWORD") or ""


def _within(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _within(name, inner)
    elif isinstance(value, str) and _NAME.search(name):
        yield value
    elif isinstance(value, str) and _ADDRESS.search(name):
        yield from _password_of(value)


def _password_of(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return
    yield password
    yield unquote(password)
