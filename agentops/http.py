"""Typed requests, for views that need a signed-in person or htmx's headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """Any request: the middleware adds what htmx told about itself."""

    htmx: HtmxDetails


class AuthenticatedRequest(HtmxRequest):
    """A request behind `login_required`: the user is a real one."""

    user: User


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Like `login_required`; a fragment polled by a page moves the whole page on."""

    @wraps(view)
    def wrapped(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.htmx:
            here = request.htmx.current_url_abs_path or "/"
            return HttpResponseClientRedirect(f"{_sign_in()}?next={quote(here)}")
        return redirect_to_login(request.get_full_path(), _sign_in())

    return wrapped


def _sign_in() -> str:
    return resolve_url(settings.LOGIN_URL)
