"""Signed in at the real web server, but not by its form, which takes long on purpose."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

TOKEN = "t" * 32
"""Against forged forms: what a form sends as `csrfmiddlewaretoken`."""


def cookies_of(person: User) -> dict[str, str]:
    """By name: that of a new session of theirs, and that of `TOKEN`."""
    client = Client()
    client.force_login(person)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: TOKEN}
