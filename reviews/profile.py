"""A person's own settings: the time zone of every page, and the single keys.

Who has no row has the defaults. A person changes their own row and nobody else's.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from reviews import hours
from reviews.models import Profile


def of(user: Any) -> Profile:
    """The person's row, or an unsaved one with the defaults.

    No query for who is signed in: `reviews.backend` brings the row along.
    """
    if not user.is_authenticated:
        return Profile()
    try:
        row: Profile = user.profile
    except Profile.DoesNotExist:
        return Profile(person=user)
    return row


def zone(profile: Profile) -> ZoneInfo:
    """The zone its times are shown in.

    A name that this host no longer knows counts as none: pages go on being shown.
    """
    return hours.zone(profile)


@cache
def _zones() -> list[tuple[str, str]]:
    default = f"As the installation has it, {timezone.get_default_timezone_name()}"
    names = sorted(available_timezones())
    return [("", default), *((name, name.replace("_", " ")) for name in names)]


class ProfileForm(forms.Form):
    """What the page offers; the zones are those this host knows."""

    time_zone = forms.ChoiceField(
        choices=_zones,
        label="Time zone",
        required=False,
        help_text="Times of day are shown in it, on every page.",
    )
    single_keys = forms.BooleanField(
        label="Single keys",
        required=False,
        help_text="Letters work as keys while you do not type. Ctrl+Enter in forms,"
        " and Esc in dialogs, work either way.",
    )


def form_for(profile: Profile) -> ProfileForm:
    """Filled with what holds now."""
    return ProfileForm(
        initial={"time_zone": profile.time_zone, "single_keys": profile.single_keys}
    )


def save(user: User, form: ProfileForm) -> None:
    """Keep what a valid form says; the rest of the row stays as it is."""
    Profile.objects.update_or_create(person=user, defaults=form.cleaned_data)
