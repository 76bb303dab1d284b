"""When a person may be told: quiet hours and mute, in the person's own time zone.

Pure: the clock is given.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings

from reviews.models import Profile


def zone(profile: Profile | None) -> ZoneInfo:
    """The person's zone; a name that this host does not know counts as none."""
    name = profile.time_zone if profile else ""
    try:
        return ZoneInfo(name or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(settings.TIME_ZONE)


def free_at(
    profile: Profile | None, at: datetime, wake_at: datetime | None = None
) -> datetime:
    """The first moment from `at` on at which the person may be told.

    From `wake_at` on quiet hours do not count; a mute always does.
    """
    if profile is None:
        return at
    if profile.muted_until is not None and profile.muted_until > at:
        at = profile.muted_until
    end = _quiet_until(profile, at)
    if wake_at is not None:
        end = max(at, min(end, wake_at))
    return end


def _quiet_until(profile: Profile, at: datetime) -> datetime:
    """The end of the quiet hours that hold at this moment; else the moment."""
    begin, end = profile.quiet_from, profile.quiet_until
    if begin is None or end is None or begin == end:
        return at
    local = at.astimezone(zone(profile))
    if not _within(local.time(), begin, end):
        return at
    day = local.date() + timedelta(days=0 if local.time() < end else 1)
    over = datetime.combine(day, end, local.tzinfo)
    if over.timestamp() <= at.timestamp():  # the hour that the clocks show twice
        over = over.replace(fold=1)
    return datetime.fromtimestamp(over.timestamp(), at.tzinfo)


def _within(moment: time, begin: time, end: time) -> bool:
    if begin < end:
        return begin <= moment < end
    return moment >= begin or moment < end
