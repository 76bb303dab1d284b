"""Who has to wait after too many tries, and ending the wait."""

from __future__ import annotations

from axes.models import AccessAttempt
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from runs.admin_pages import SeenOnly


@admin.register(AccessAttempt)
class TriesAdmin(SeenOnly):
    """For those who look after people's accounts; nothing here holds a password."""

    list_display = (
        "username",
        "ip_address",
        "failures_since_start",
        "attempt_time",
        "user_agent",
    )
    fields = list_display
    search_fields = ("username", "ip_address")
    actions = ("forgive",)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("auth.change_user")

    @admin.action(description="Let them try again", permissions=["view"])
    def forgive(self, request: HttpRequest, chosen: QuerySet[AccessAttempt]) -> None:
        count, _ = chosen.order_by().delete()
        messages.info(request, f"{count} forgotten: whoever waited may try again.")
