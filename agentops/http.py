"""Typed requests, for views that need a signed-in person or htmx's headers."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """Any request: the middleware adds what htmx told about itself."""

    htmx: HtmxDetails


class AuthenticatedRequest(HtmxRequest):
    """A request behind `login_required`: the user is a real one."""

    user: User
