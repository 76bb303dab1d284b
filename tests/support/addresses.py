"""Every address there is, found by walking what resolves them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

PROBES = ("healthz", "readyz")
"""Answered by a middleware, before any address is resolved."""


def every() -> list[str]:
    """As patterns, such as `runs/<run_id>/`; each once, in their order."""
    return list(dict.fromkeys([*PROBES, *map(_plain, _walk(get_resolver()))]))


def _walk(resolver: Any, before: str = "") -> Iterator[str]:
    for one in resolver.url_patterns:
        here = before + str(one.pattern)
        if isinstance(one, URLPattern):
            yield here
        elif isinstance(one, URLResolver):
            yield from _walk(one, here)


def _plain(pattern: str) -> str:
    """`<uuid:run_id>` as `<run_id>`, and a regular expression's group alike."""
    named = re.sub(r"\^?\(\?P<(\w+)>[^)]*\)/?\$?", r"<\1>/", pattern)
    return re.sub(r"<\w+:(\w+)>", r"<\1>", named)
