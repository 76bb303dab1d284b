"""The inbox over HTTP: its list, and the rows a page shows, fresh. Nothing is decided."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agentops import clock
from agentops.http import AuthenticatedRequest, polled, signed_in
from reviews import access, inbox, navigation
from reviews.filters import Filters
from reviews.models import Review

NO_CONTENT = 204
LIST, MORE = "list", "more"


@require_GET
@signed_in
def inbox_page(request: AuthenticatedRequest) -> HttpResponse:
    """The list of one view; the chosen item comes beside it where there is room.

    A page that only wants the list, or the rows that follow, is answered with these.
    """
    access.refuse_strangers(request.user)
    filters = Filters.read(request.GET)
    now = clock.now()
    context = _list(request, filters, now)
    target = request.htmx.target if request.htmx else None
    if target == MORE:
        return render(request, "reviews/_more.html", context)
    if target == LIST:
        return render(request, "reviews/_list_again.html", context)
    chosen, following = _chosen(request, context["rows"])
    context |= navigation.offers(request.user)
    context |= {"chosen": chosen, "following": following}
    return render(request, "reviews/inbox.html", context)


def _list(
    request: AuthenticatedRequest, filters: Filters, now: datetime
) -> dict[str, Any]:
    after, through = request.GET.get("after", ""), request.GET.get("until")
    shown = inbox.page(request.user, filters, now, after=after, through=through)
    links = navigation.of(request.user, filters, now)
    return {
        "filters": filters,
        "narrowings": navigation.narrowings(filters),
        "navigation": links,
        "rows": shown.rows,
        "until": shown.until,
        "is_later": bool(after),
        "news": 0,
        "mark": inbox.fingerprint(shown.rows, 0, links.counts),
        "now": now,
        "last": inbox.last_closed(request.user) if not shown.rows else None,
    }


def _chosen(
    request: AuthenticatedRequest, rows: list[inbox.Row]
) -> tuple[UUID | None, UUID | None]:
    """The item of the address, else the first one; and the row in its place.

    An item that has left the list, because it was decided, is shown all the same.
    """
    ids = [row.review.pk for row in rows]
    first = ids[0] if ids else None
    try:
        wanted = UUID(request.GET.get("item", ""))
    except ValueError:
        return first, None
    if wanted in ids:
        return wanted, None
    found = Review.objects.visible_to(request.user).filter(pk=wanted)
    rank_at = found.values_list("rank_at", flat=True).first()
    if rank_at is None:
        return first, None
    later = (row.review.pk for row in rows if row.review.rank_at >= rank_at)
    return wanted, next(later, None)


@require_POST
@signed_in
@polled
def rows(request: AuthenticatedRequest) -> HttpResponse:
    """The rows a list shows, fresh, in their order; new ones are only counted.

    Nothing (204) while the list looks as it did. By POST, since the rows a long list
    shows do not fit into an address.
    """
    access.refuse_strangers(request.user)
    filters = Filters.read(request.POST)
    now = clock.now()
    until = request.POST.get("until", "")
    shown = inbox.again(request.user, request.POST.getlist("id"), now)
    news = inbox.news(request.user, filters, now, shown, until)
    if news and not shown:
        shown, news = inbox.page(request.user, filters, now).rows, 0
    links = navigation.of(request.user, filters, now)
    mark = inbox.fingerprint(shown, news, links.counts)
    if mark == request.POST.get("mark"):
        return HttpResponse(status=NO_CONTENT)
    context = {
        "filters": filters,
        "navigation": links,
        "rows": shown,
        "until": until,
        "news": news,
        "mark": mark,
        "now": now,
        "last": inbox.last_closed(request.user) if not shown else None,
    }
    return render(request, "reviews/_live.html", context)
