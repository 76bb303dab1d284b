"""What admins have to know of the outbox."""

from __future__ import annotations

from typing import Any

from django import template

from agentops import clock
from reviews.models import Notification
from reviews.models.notification import NotificationStatus

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
