"""What admins have to know of the outbox."""

from __future__ import annotations

from typing import Any

from django import template

from agentops import clock
from reviews import routes
from reviews.models import Notification, Route
from reviews.models.notification import NotificationStatus
from reviews.notifiers import base

DAY_S = 86_400.0

register = template.Library()


@register.simple_tag
def failed_notices(user: Any) -> int:
    """How many notices of the last day were given up; one query, for admins only."""
    if not user.has_perm("reviews.change_notification"):
        return 0
    return Notification.objects.filter(
        status=NotificationStatus.FAILED.value, created_at__gte=clock.later(-DAY_S)
    ).count()


@register.simple_tag
def notice_settings(user: Any) -> routes.Settings:
    """What the section of the profile page shows; two queries."""
    return routes.settings_of(user)


@register.filter
def channel_label(route: Route) -> str:
    """The channel's name for people; one that is gone goes by its own."""
    labels = {one.name: one.label for one in base.all_notifiers()}
    return labels.get(route.channel, route.channel)


@register.filter
def risk_words(route: Route) -> str:
    return routes.RISK_WORDS[route.least_risk]
