"""A look at reviews, decisions and the outbox; failed messages can be tried again."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agentops import clock
from agentops.http import number
from reviews import routing
from reviews.models import Decision, Notification, Profile, Review, Route
from reviews.models.notification import NotificationStatus
from reviews.telling import DELIVER
from runs import queue
from runs.admin_pages import SeenOnly


@admin.register(Review)
class ReviewAdmin(SeenOnly):
    list_display = (
        "title",
        "run",
        "reason",
        "risk",
        "status",
        "holder",
        "opened_at",
        "due_at",
        "page",
    )
    list_filter = ("status", "reason", "risk")
    list_select_related = ("run", "holder")
    search_fields = ("title", "search_text", "run__id__exact")

    @admin.display(description="page")
    def page(self, review: Review) -> SafeString:
        url = reverse("reviews:detail", args=[review.pk])
        return format_html('<a href="{}">open</a>', url)


@admin.register(Decision)
class DecisionAdmin(SeenOnly):
    list_display = ("review", "kind", "actor", "note", "decided_at", "undone_at")
    list_filter = ("kind",)
    list_select_related = ("review", "actor")
    search_fields = ("actor__username", "note", "review__run__id__exact")


@admin.register(Notification)
class NotificationAdmin(SeenOnly):
    """Rows hold no secret: a route is named by its number."""

    list_display = (
        "event",
        "channel",
        "to",
        "status",
        "attempts",
        "error",
        "created_at",
        "next_at",
        "sent_at",
    )
    list_filter = (
        "status",
        "channel",
        "event",
        ("created_at", admin.DateFieldListFilter),
    )
    list_select_related = ("person",)
    search_fields = ("person__username", "run__id__exact")
    actions = ("try_again",)

    @admin.display(description="to", ordering="address")
    def to(self, row: Notification) -> str:
        return routing.shown(row)

    @admin.action(description="Send again", permissions=["retry"])
    def try_again(self, request: HttpRequest, chosen: QuerySet[Notification]) -> None:
        """Failed ones only, with a fresh count of tries."""
        with transaction.atomic():
            failed = chosen.filter(status=NotificationStatus.FAILED.value)
            count = failed.order_by().update(
                status=NotificationStatus.PENDING.value,
                attempts=0,
                next_at=clock.now(),
            )
            if count:
                queue.enqueue(DELIVER)
        messages.info(request, f"{count} will be tried again now.")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("reviews.change_notification")


@admin.register(Route)
class RouteAdmin(SeenOnly):
    """People keep their own routes; admins see them, without what may be secret."""

    list_display = ("person", "channel", "shown", "least_risk", "enabled")
    list_filter = ("channel", "enabled", "least_risk")
    list_select_related = ("person",)
    search_fields = ("person__username",)
    fields = list_display


@admin.register(Profile)
class ProfileAdmin(SeenOnly):
    list_display = ("person", "time_zone", "quiet_from", "quiet_until", "muted_until")
    list_select_related = ("person",)
    search_fields = ("person__username",)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Profile | None:
        """By the person's number; Django lets one through that no database can hold."""
        pk = str(number(object_id))
        found: Profile | None = super().get_object(request, pk, from_field)
        return found
