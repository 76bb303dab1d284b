"""The saved views of the inbox: a name, and which reviews it holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

SOON = timedelta(hours=1)
LOOK_BACK = timedelta(days=7)


@dataclass(frozen=True)
class View:
    """One saved view: which reviews it holds; `is_open` ones wait for a decision."""

    name: str
    title: str
    where: Q
    is_open: bool = True


def views(user: User, now: datetime) -> list[View]:
    """Every view, in the order of the navigation."""
    is_held = Q(holder__isnull=False, holder_until__gt=now)
    return [
        View("open", "Needs a decision", Q()),
        View("mine", "Mine", is_held & Q(holder=user)),
        View("unclaimed", "Unclaimed", ~is_held),
        View("soon", "Due soon", Q(due_at__lte=now + SOON)),
        View("decided", "Decided", Q(closed_at__gte=now - LOOK_BACK), is_open=False),
    ]


def find(name: str, user: User, now: datetime) -> View:
    """Raises StopIteration for a name that is none."""
    return next(view for view in views(user, now) if view.name == name)
