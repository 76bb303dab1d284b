"""The groups of look-alikes that the inbox and an item's page offer to decide on."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.contrib.auth.models import User

from reviews import alike, bulk, groups
from reviews.inbox import Row
from reviews.models import Review
from runs.states import ParkReason

register = template.Library()


@register.simple_tag
def look_alikes(user: User, rows: Sequence[Row]) -> list[groups.Group]:
    """Of the open rows that a list shows; three queries, or none."""
    return groups.among(user, [row.review for row in rows if row.is_open])


@register.filter
def is_stopped(review: Review) -> bool:
    """Whether what it stopped with may have stopped others; no query."""
    return bool(review.shape) and ParkReason(review.reason) in alike.STOPPED


@register.simple_tag
def most_together() -> int:
    """How many items are decided on at a time."""
    return bulk.MOST
