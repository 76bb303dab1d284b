"""Guessing passwords is slow: django-axes counts the tries, the bounds are ours.

A try counts against the name and the address together, against the name from
wherever it comes, and against the address whatever names it tries; the last two
bounds are wider, so that neither a stranger nor a colleague locks a person out at
once. The second does not hold for a browser in which the person was signed in last:
four addresses are enough to meet it on purpose. A lock ends by itself,
`sign_in_lock_s` after the last try that counted.
Asking for a link to reset a password is counted in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_credentials
from django.conf import settings
from django.db.models import Max, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from agentops import sessions
from agentops.conf import product
from agentops.pages import problem

TOO_MANY = 429
FROM_ANYWHERE = ("username",)
BOUNDS: Mapping[tuple[str, ...], int] = {
    ("username", "ip_address"): 1,
    FROM_ANYWHERE: 4,
    ("ip_address",): 20,
}
"""What is counted together, and how many times `sign_in_tries` it may come to."""
PER_SITE = 64
"""Of an IPv6 address, the bits that say whose it is: who has one has all that follow."""

logger = logging.getLogger(__name__)


def tries(request: HttpRequest, credentials: Any) -> int:
    """The smallest bound, for django-axes."""
    return product().sign_in_tries


def together(request: HttpRequest, credentials: Any) -> list[list[str]]:
    """What is counted together, for django-axes."""
    return [list(names) for names in BOUNDS]


def lock(request: HttpRequest | None) -> timedelta:
    """How long a lock lasts, for django-axes."""
    return timedelta(seconds=product().sign_in_lock_s)


def address(request: HttpRequest) -> str | None:
    """The client's address; of IPv6 its network, None where there is none.

    `X-Forwarded-For` counts only behind a proxy, and of it only the last entry: the
    one that our proxy has seen itself. What stands before it anybody can write.
    """
    seen = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        told = request.META.get("HTTP_X_FORWARDED_FOR", "")
        seen = told.rpartition(",")[2].strip() or seen
    try:
        return _network(_without_port(seen))
    except ValueError:
        return None


def _without_port(text: str) -> str:
    """Some proxies write it as well: 192.0.2.1:4711, [2001:db8::1]:4711."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _network(text: str) -> str:
    found = ip_address(text)
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    bare = found.packed  # without the name of an interface
    return str(ip_network((bare, PER_SITE), strict=False).network_address)


class Handler(AxesDatabaseHandler):  # type: ignore[misc] # untyped
    """The rows of django-axes, held against `BOUNDS`."""

    def get_failures(self, request: Any, credentials: Any = None) -> int:
        """Tries on the scale of the smallest bound, by the bound that is nearest."""
        counted = self._counted(request, credentials)
        return max(number // share for number, _, share in counted)

    def locked_until(self, request: Any, credentials: Any = None) -> datetime | None:
        """When the last of the locks that are met ends; None if none is."""
        most = product().sign_in_tries
        ends = [
            at + lock(request)
            for number, at, share in self._counted(request, credentials)
            if number // share >= most
        ]
        return max(ends, default=None)

    def reset_user_attempts(self, request: Any, credentials: Any = None) -> int:
        """Who signs in has their own tries from there forgiven, and no others."""
        own = self.filter_user_attempts(request, credentials)[0]
        count, _ = own.delete()
        return int(count)

    def _counted(
        self, request: Any, credentials: Any
    ) -> list[tuple[int, datetime, int]]:
        """Tries, the time of the last one and the share, of each bound that holds."""
        rows = self.get_user_attempts(request, credentials)
        is_known = _is_known(request, credentials)
        sums = [
            (
                one.aggregate(n=Sum("failures_since_start"), at=Max("attempt_time")),
                share,
            )
            for one, (names, share) in zip(rows, BOUNDS.items(), strict=True)
            if not (is_known and names == FROM_ANYWHERE)
        ]
        return [(found["n"] or 0, found["at"], share) for found, share in sums]


def _is_known(request: HttpRequest, credentials: Any) -> bool:
    """Is it the browser in which the person of this name was signed in last?"""
    name = (credentials or {}).get("username")
    return bool(name) and sessions.last(request) == name


def locked_out(
    request: HttpRequest, answer: HttpResponse | None, credentials: Any
) -> HttpResponse:
    """The page instead of the sign-in, and a line in the log for who is on call.

    It says the same whether or not there is such a name.
    """
    until = _handler().locked_until(request, credentials)
    until = until or timezone.localtime() + lock(request)
    left_s = max(ceil((until - timezone.localtime()).total_seconds()), 1)
    name = (credentials or {}).get("username")
    where = getattr(request, "axes_ip_address", None)
    logger.warning(
        "too many tries: %r from %s has to wait for %d s", name, where, left_s
    )
    response = problem(
        request,
        TOO_MANY,
        title="Too many tries",
        happened="There were too many tries with this name, or from where you are."
        f" The next one is possible at {timezone.localtime(until):%H:%M},"
        f" in {_minutes(left_s)}.",
        kept="Nothing has changed: passwords are as they were, and who is signed in"
        " stays so. If it cannot wait, an admin can end it.",
        next_steps=[("Back to the sign-in", reverse("login"))],
    )
    response["Retry-After"] = str(left_s)
    return response


def _minutes(seconds: int) -> str:
    number = ceil(seconds / 60)
    return f"{number} minute{'' if number == 1 else 's'}"


def refuse(request: HttpRequest, what: str) -> HttpResponse | None:
    """Count something that strangers may ask for as a try; the page if it is too much.

    `what` names it, and for whom: it has a count of its own.
    """
    credentials = get_credentials(what[:255])
    if not AxesProxyHandler.is_allowed(request, credentials):
        return locked_out(request, None, credentials)
    AxesProxyHandler.user_login_failed(refuse, credentials, request)
    # That was the last one, but it was one that may be.
    request.axes_locked_out = False  # type: ignore[attr-defined] # of django-axes
    return None


def _handler() -> Handler:
    found = AxesProxyHandler.get_implementation()
    return found if isinstance(found, Handler) else Handler()
