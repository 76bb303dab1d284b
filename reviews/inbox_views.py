"""The inbox over HTTP: its list, and the rows a page shows, fresh. Nothing is decided."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agentops import clock
from agentops.http import AuthenticatedRequest, signed_in
from reviews import access, inbox, navigation, page
from reviews.filters import Filters
from reviews.models import Review


@require_GET
@signed_in
def inbox_page(request: AuthenticatedRequest) -> HttpResponse:
    """The list of one view, and the chosen item beside it where there is room."""
    access.refuse_strangers(request.user)
    filters = Filters.read(request.GET)
    now = clock.now()
    rows = inbox.rows(request.user, filters, now)
    context = {
        "filters": filters,
        "navigation": navigation.of(request.user, filters, now),
        "rows": rows,
        "newest": now.isoformat(),
        "now": now,
        "agents": navigation.agents(),
        "last": inbox.last_closed(request.user) if not rows else None,
    }
    chosen = _chosen(request, rows)
    if chosen is not None:
        context |= page.of(chosen, request.user) | {"chosen": chosen.pk}
    return render(request, "reviews/inbox.html", context)


def _chosen(request: AuthenticatedRequest, rows: list[inbox.Row]) -> Review | None:
    """The item of the address, else the first one."""
    wanted = request.GET.get("item", "")
    found = [row.review.pk for row in rows if str(row.review.pk) == wanted]
    pk = found[0] if found else rows[0].review.pk if rows else None
    return None if pk is None else access.review_for(request.user, pk)


@require_GET
@signed_in
def rows(request: AuthenticatedRequest) -> HttpResponse:
    """The rows a list shows, fresh, in their order; new ones are only counted."""
    access.refuse_strangers(request.user)
    filters = Filters.read(request.GET)
    now = clock.now()
    newest = request.GET.get("newest", "")
    context = {
        "filters": filters,
        "rows": inbox.again(request.user, request.GET.getlist("id"), now),
        "news": inbox.news(request.user, filters, newest),
        "newest": newest,
        "now": now,
    }
    return render(request, "reviews/_rows.html", context)
