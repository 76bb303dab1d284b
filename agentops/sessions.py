"""How long one stays signed in: as long as one uses the pages, and a week at most.

What a page asks for by itself is no use, or a forgotten tab would never end. A browser
keeps, signed, who was signed in last: guesses from elsewhere do not keep that person
out (`agentops.throttle`), and what they typed is not sent by who comes after them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from agentops import clock
from agentops.conf import product
from agentops.middleware import Answer

BEGAN, USED, AFTER_ANOTHER = "began", "used", "after another"
LAST = f"{settings.COOKIE_PREFIX}agentops_last"
LAST_KEPT_S = 90 * 86_400
NOTED_EVERY_S = 300.0
"""Use is noted so often, for one write; till then a page costs none."""


@receiver(user_logged_in)
def begin(request: Any, user: Any, **_: Any) -> None:
    if request is None:
        return
    request.session[BEGAN] = request.session[USED] = clock.timestamp()
    request.session[AFTER_ANOTHER] = last(request) not in {"", user.get_username()}


def last(request: HttpRequest) -> str:
    """Who was signed in last in this browser; "" where nobody was, or long ago."""
    name = request.get_signed_cookie(LAST, "", salt=LAST, max_age=LAST_KEPT_S)
    return unquote(name or "")


def remembering(get_response: Answer) -> Answer:
    """Has the browser keep who is signed in, in whatever way they came in."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.user.is_authenticated:
            _remember(request, response, request.user.get_username())
        return response

    return answer


def _remember(request: HttpRequest, response: HttpResponse, name: str) -> None:
    if last(request) != name:
        response.set_signed_cookie(
            LAST,
            quote(name),  # a header holds no letters but Latin ones
            salt=LAST,
            max_age=LAST_KEPT_S,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def bounded(get_response: Answer) -> Answer:
    """Ends a session that is over, before anything is asked in its name."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and _is_over(request.session):
            logout(request)
        response = get_response(request)
        if request.user.is_authenticated and not getattr(request, "is_poll", False):
            _note(request.session)
        return response

    return answer


def _is_over(session: Any) -> bool:
    now, limits = clock.timestamp(), product()
    is_old = now - session.get(BEGAN, now) > limits.session_s
    return bool(is_old or now - session.get(USED, now) > limits.session_idle_s)


def _note(session: Any) -> None:
    now = clock.timestamp()
    if now - session.get(USED, 0.0) > NOTED_EVERY_S:
        session.setdefault(BEGAN, now)
        session[USED] = now
