"""Where people are told: their enabled routes, or their e-mail address.

A row of the outbox names a route by its number and never holds its address: that
may be a secret, and a route that is gone is not sent to any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet

from reviews.models import Notification, Route
from reviews.models.review import Risk

EMAIL = "email"
_ROUTE = "route:"
_LEVELS = [risk.value for risk in Risk]


@dataclass(frozen=True)
class Address:
    """One way to one person; `value` is what the outbox holds."""

    person_id: int
    channel: str
    value: str


def addresses(
    people: QuerySet[User], risk: str, *, at_least_mail: bool = False
) -> list[Address]:
    """Where these people want to be told of such a risk, each address once.

    Who has no enabled route has one: e-mail. With `at_least_mail` so has who wants
    to be told of higher risks only. Two queries.
    """
    enabled = Prefetch("routes", Route.objects.filter(enabled=True), "enabled_routes")
    found: dict[tuple[str, str], Address] = {}
    for person in people.order_by("pk").prefetch_related(enabled):
        for key, address in _of(person, risk, at_least_mail):
            found.setdefault(key, address)
    return list(found.values())


def by_mail(people: QuerySet[User]) -> list[Address]:
    """Their e-mail addresses, whatever their routes say."""
    found = {
        key: address for one in people.order_by("-pk") for key, address in _mail(one)
    }
    return sorted(found.values(), key=lambda address: address.person_id)


def target(notification: Notification) -> str | None:
    """The address to send to; None if the person has taken the route away."""
    route = _route(notification)
    if notification.channel == EMAIL and route is None:
        return notification.address if _still_own(notification) else None
    return route.address if route else None


def shown(notification: Notification) -> str:
    """The address in words, without what may be secret in it."""
    if not notification.address.startswith(_ROUTE):
        return notification.address
    return f"{notification.channel} of {notification.person}"


def takes(least: str, risk: str) -> bool:
    """Is the risk high enough for a route that begins at `least`?"""
    return _LEVELS.index(risk) >= _LEVELS.index(least)


Keyed = tuple[tuple[str, str], Address]


def _of(person: User, risk: str, at_least_mail: bool) -> Iterator[Keyed]:
    routes: Iterable[Route] = person.enabled_routes  # type: ignore[attr-defined]
    wanted = [route for route in routes if takes(route.least_risk, risk)]
    if not routes or (at_least_mail and not wanted):
        yield from _mail(person)
    for route in wanted:
        if route.channel == EMAIL:
            yield _keyed(Address(person.pk, EMAIL, route.address))
        else:
            address = Address(person.pk, route.channel, f"{_ROUTE}{route.pk}")
            yield (route.channel, route.address), address


def _mail(person: User) -> Iterator[Keyed]:
    if person.email:
        yield _keyed(Address(person.pk, EMAIL, person.email))


def _keyed(address: Address) -> Keyed:
    return (EMAIL, address.value.lower()), address


def _route(notification: Notification) -> Route | None:
    mine = Route.objects.filter(
        person=notification.person_id, channel=notification.channel, enabled=True
    )
    if notification.address.startswith(_ROUTE):
        return mine.filter(pk=notification.address.removeprefix(_ROUTE)).first()
    return mine.filter(address=notification.address).first()


def _still_own(notification: Notification) -> bool:
    """A mail to the account's address needs no route."""
    person = notification.person
    return person is None or person.email.lower() == notification.address.lower()
