"""What comes in: typed requests, and what addresses say, read without trust."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django_htmx.middleware import HtmxDetails

from agentops import again


class HtmxRequest(HttpRequest):
    """Any request: the middleware adds what htmx told about itself."""

    htmx: HtmxDetails


class AuthenticatedRequest(HtmxRequest):
    """A request behind `signed_in`: the user is a real one.

    `is_poll` says that the page asked by itself, which does not keep one signed in.
    """

    user: User
    is_poll: bool


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Like `login_required`; what a page asks for by itself is answered with 401.

    The page then says so, and keeps what is typed into it: `static/js/live.js`. A form
    that was sent is kept on a page of its own.
    """

    @wraps(view)
    def wrapped(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.htmx:
            return HttpResponse("You are signed out.", status=again.SIGNED_OUT)
        if request.method == "POST":
            return again.signed_out(request)
        return redirect_to_login(request.get_full_path(), _sign_in())

    return wrapped


def polled(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For what pages ask by themselves, inside `signed_in`: it is no use of a session.

    The answer brings the token that holds by now, for the forms that are open.
    """

    @wraps(view)
    def wrapped(
        request: AuthenticatedRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        request.is_poll = True
        return again.with_token(request, view(request, *args, **kwargs))

    return wrapped


def _sign_in() -> str:
    return resolve_url(settings.LOGIN_URL)


def moment(text: str) -> datetime | None:
    """A moment as our pages write it, in UTC; None for anything else.

    `+` may have become a blank on the way. What lies beyond the years that can be
    counted in UTC is no moment either: no database takes it.
    """
    try:
        at = datetime.fromisoformat(text.replace(" ", "+"))
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def number(text: str) -> int:
    """A whole number of at most nine digits, as our pages write it; 0 for all else.

    Python refuses to read thousands of digits, and no database counts so far.
    """
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def number_or_none(text: str) -> int | None:
    """The same, in the digits of ASCII alone; None for all else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def words(text: str, most: int) -> str:
    """Text to look for, at most so long; NUL, which PostgreSQL refuses, is left out."""
    return text.replace("\x00", "").strip()[:most]
