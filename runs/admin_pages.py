"""Django's pages as ours are: read by who may read all, and nothing in them unseen."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from runs import words


class NoWrites:
    """Rows that people look at and nobody changes."""

    def has_add_permission(self, *_: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any) -> bool:
        return False

    def has_delete_permission(self, *_: Any) -> bool:
        return False


class Findable(admin.ModelAdmin):
    """Rows whose page is found even if an address names no field to find it by."""

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """With `?_to_field=` Django looks for a field of no name."""
        return super().get_object(request, object_id, from_field or None)


class Shown(Findable):
    """Lists show by its number what is not to be seen in a text from outside."""

    def changelist_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return _shown(super().changelist_view(*args, **kwargs))


class SeenOnly(NoWrites, Shown):
    """For those who see everything: the lists know nothing of who may see what. The
    pages show by its number what is not to be seen, too: nothing is entered there."""

    show_full_result_count = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may = super().has_view_permission(request, obj)
        return may and request.user.has_perm("runs.view_all_runs")

    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return _shown(super().changeform_view(*args, **kwargs))

    def history_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return _shown(super().history_view(*args, **kwargs))


def _shown(response: HttpResponse) -> HttpResponse:
    if isinstance(response, TemplateResponse):
        response.add_post_render_callback(_show)
    return response


def _show(response: HttpResponse) -> None:
    page = response.content.decode().replace("\r\n", "\n")
    response.content = words.plainly(page).encode()
