"""What people set about being told: routes, quiet hours and mute.

A person changes their own rows and nobody else's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from agentops import clock
from reviews import hours, routing
from reviews.models import Profile, Route
from reviews.models.review import Risk
from reviews.notifiers import base, message

MOST = 20
"""Routes that a person may have."""
MORNING = time(8)
"""When a mute "until tomorrow" ends, in the person's time zone."""

RISK_WORDS = {
    Risk.LOW.value: "Everything",
    Risk.MEDIUM.value: "Medium and high risk",
    Risk.HIGH.value: "High risk only",
}


class RouteForm(forms.Form):
    """A new route; the address is checked by its channel, and nothing is sent."""

    channel = forms.ChoiceField(label="Channel")
    address = forms.CharField(
        label="Address",
        max_length=500,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    least_risk = forms.ChoiceField(
        label="Tell me of",
        choices=list(RISK_WORDS.items()),
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, auto_id="id_route_%s")
        channel: Any = self.fields["channel"]
        channel.choices = [(n.name, n.label) for n in base.all_notifiers()]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                notifier = base.find(cleaned["channel"])
                cleaned["address"] = notifier.clean(cleaned["address"])
            except ValueError as error:
                self.add_error("address", str(error))
        return cleaned


class QuietForm(forms.Form):
    """Both times or neither."""

    quiet_from = forms.TimeField(
        label="From", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M")
    )
    quiet_until = forms.TimeField(
        label="Until", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M")
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        begin, end = cleaned.get("quiet_from"), cleaned.get("quiet_until")
        if not self.errors and (begin is None) != (end is None):
            raise forms.ValidationError("Enter both times, or none to end quiet hours.")
        return cleaned


@dataclass(frozen=True)
class Settings:
    """What the section of the profile page shows."""

    routes: list[Route]
    form: RouteForm
    quiet: QuietForm
    hints: list[tuple[str, str]]
    muted_until: datetime | None
    unheard: str
    mail: str


def settings_of(person: User) -> Settings:
    """Two queries."""
    profile = _profile(person)
    routes = list(person.routes.all())
    muted = profile.muted_until
    return Settings(
        routes=routes,
        form=RouteForm(),
        quiet=QuietForm(
            initial={
                "quiet_from": profile.quiet_from,
                "quiet_until": profile.quiet_until,
            }
        ),
        hints=[(n.label, n.hint) for n in base.all_notifiers()],
        muted_until=muted if muted and muted > clock.now() else None,
        unheard=_unheard(routes),
        mail="" if any(route.enabled for route in routes) else person.email,
    )


def add(person: User, form: RouteForm) -> bool:
    """Keep the route of a valid form; False, with an error in it, if there is such."""
    if person.routes.count() >= MOST:
        form.add_error(None, f"You have {MOST} routes already. Remove one first.")
        return False
    try:
        with transaction.atomic():
            Route.objects.create(person=person, **form.cleaned_data)
    except IntegrityError:
        form.add_error("address", "You have this route already.")
        return False
    return True


def switch(person: User, route_id: int, *, on: bool) -> None:
    person.routes.filter(pk=route_id).update(enabled=on)


def remove(person: User, route_id: int) -> None:
    """What still waits for it is dropped when its time comes."""
    person.routes.filter(pk=route_id).delete()


def send_test(route: Route) -> None:
    """Send a message now; raises `Undeliverable`. Outside any transaction."""
    base.find(route.channel).send(route.address, message.of_test())


def keep_quiet(person: User, form: QuietForm) -> None:
    """Keep what a valid form says; the rest of the row stays as it is."""
    Profile.objects.update_or_create(person=person, defaults=form.cleaned_data)


def mute(person: User, how: str) -> datetime | None:
    """`hour`, `tomorrow` or anything else for no longer; returns until when."""
    now = clock.now()
    until = None
    if how == "hour":
        until = now + timedelta(hours=1)
    elif how == "tomorrow":
        local = now.astimezone(hours.zone(_profile(person)))
        day = local.date() + timedelta(days=1)
        until = datetime.combine(day, MORNING, local.tzinfo)
    Profile.objects.update_or_create(person=person, defaults={"muted_until": until})
    return until


def _profile(person: User) -> Profile:
    return Profile.objects.filter(person=person).first() or Profile(person=person)


def _unheard(routes: list[Route]) -> str:
    """The risks that no enabled route takes, in words; "" if all are taken."""
    enabled = [route for route in routes if route.enabled]
    missed = [
        risk.value
        for risk in Risk
        if not any(routing.takes(route.least_risk, risk) for route in enabled)
    ]
    return " and ".join(missed) if enabled else ""
