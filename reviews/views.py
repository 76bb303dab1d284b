"""Looking at one review: its page and what the page asks for. Nothing here decides."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseStopPolling

from agentops import clock
from agentops.http import AuthenticatedRequest, number_or_none, polled, signed_in
from reviews import access, claims, glance, page
from reviews.filters import Filters
from reviews.models import Review

NO_CONTENT = 204


@require_GET
@signed_in
def detail(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Everything a decision needs, from why to the forms; opening is only looking."""
    review = access.review_for(request.user, review_id)
    claims.look(review, by=request.user)
    filters = Filters.read(request.GET)
    context = page.whole(review, request.user, filters)
    return render(request, "reviews/detail.html", context)


@require_GET
@signed_in
def pane(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """The same, short, for beside the list."""
    review = access.review_for(request.user, review_id)
    claims.look(review, by=request.user)
    context = page.of(review, request.user) | {"filters": Filters.read(request.GET)}
    return render(request, "reviews/_pane.html", context)


@require_GET
@signed_in
@polled
def live(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Those parts of an open page that are no longer as it shows them, else 204."""
    shown = glance.Shown.read(request.GET)
    try:
        changes = glance.look(request.user, review_id, shown, clock.now())
    except Review.DoesNotExist as error:
        raise Http404 from error
    if not changes:
        return HttpResponse(status=NO_CONTENT)
    review = access.review_for(request.user, review_id)
    context = page.changed(review, request.user, shown, changes) | {
        "filters": Filters.read(request.GET)
    }
    return render(request, "reviews/_changes.html", context)


@require_GET
@signed_in
@polled
def happened(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """How the run goes on, if it has moved; the last answer says to stop.

    A page that says in a line how the run stands gets that line too.
    """
    asked = request.GET
    if glance.is_run_as_seen(request.user, review_id, asked.get("seen", "")):
        return HttpResponse(status=NO_CONTENT)
    review = access.review_for(request.user, review_id)
    context = page.goes_on(review, number_or_none(asked.get("from", "")))
    context["has_line"] = "line" in asked
    answer = render(request, "reviews/_goes_on.html", context)
    if context["is_active"]:
        return answer
    return HttpResponseStopPolling(answer.content)
