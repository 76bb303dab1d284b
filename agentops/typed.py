"""What people type: secrets are taken out before any view sees it, and they are told.

Forms of ours and of the admin pages alike. Left alone are the fields that are made for
a secret: passwords, and the address of a person's own notices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict

from agentops import redaction

MADE_FOR_SECRETS = re.compile(
    r"csrfmiddlewaretoken|address|(?:old_|new_)?password[12]?"
)
"""Not `arguments.password`: what a tool is called with is kept and shown."""
SAYS_NOTHING = frozenset({"draft"})
"""Addresses that are sent to again and again while one types."""


class WithoutSecrets:
    """Middleware; `hidden_in` tells a view what was taken out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        """After the check of CSRF, which reads the form first and bears a broken one."""
        if request.method != "POST":
            return
        found = _hide(request)
        match = request.resolver_match
        if found and not (match and match.url_name in SAYS_NOTHING):
            messages.warning(request, said(found))


def hidden_in(request: HttpRequest) -> Mapping[str, str]:
    """What was taken out of the form that was sent: the kinds in words, by field."""
    found: Mapping[str, str] = getattr(request, "hidden", {})
    return found


def said(found: Mapping[str, str]) -> str:
    kinds = ", ".join(dict.fromkeys(found.values()))
    return f"Hidden before anything kept it: {kinds}. Nobody gets to see it again."


def _hide(request: HttpRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    typed = QueryDict(mutable=True)
    for name, values in request.POST.lists():
        if not MADE_FOR_SECRETS.fullmatch(name):
            with redaction.counted() as hidden:
                values = list(map(redaction.hide, values))
            if hidden:
                found[name] = redaction.in_words(hidden)
        typed.setlist(name, values)
    if found:
        typed._mutable = False
        request.POST = typed  # type: ignore[assignment]
        request.hidden = found  # type: ignore[attr-defined]
    return found
