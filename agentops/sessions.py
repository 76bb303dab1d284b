"""How long one stays signed in: as long as one uses the pages, and a week at most.

What a page asks for by itself is no use, or a forgotten tab would never end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from agentops import clock
from agentops.conf import product

Answer = Callable[[HttpRequest], HttpResponse]
BEGAN, USED = "began", "used"
NOTED_EVERY_S = 300.0
"""Use is noted so often, for one write; till then a page costs none."""


@receiver(user_logged_in)
def begin(request: Any, **_: Any) -> None:
    if request is not None:
        request.session[BEGAN] = request.session[USED] = clock.timestamp()


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
