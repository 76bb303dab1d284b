"""Looking at one review: its page and what the page asks for. Nothing here decides."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseStopPolling

from agentops import clock
from agentops.http import AuthenticatedRequest, polled, signed_in
from reviews import access, claims, glance, page
from reviews.filters import Filters
from reviews.models import Review
from reviews.models.review import ReviewStatus
from runs import page as run_page
from runs import standing
from runs.states import RunState

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
def after(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """How the run goes on after the decision, until it rests.

    A decision may be taken back: then the item itself waits again.
    """
    review = access.review_for(request.user, review_id)
    is_open = review.status == ReviewStatus.OPEN.value
    run = review.run
    step = run.steps.order_by("-number").first()
    context = {
        "run": run,
        "run_chip": standing.chip(run),
        "doing": standing.doing(run, step),
        "waits": review if is_open else page.waits_again(review),
    }
    answer = render(request, "reviews/_after.html", context)
    if RunState(run.state).is_active:
        return answer
    return HttpResponseStopPolling(answer.content)


@require_GET
@signed_in
@polled
def happened(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """The steps once more, while the run goes on; the last answer says to stop."""
    review = access.review_for(request.user, review_id)
    run = review.run
    steps = run_page.newest(run, _number(request.GET.get("from", "")))
    context = page.happened(run, page.entries_of(run, steps)) | {"review": review}
    answer = render(request, "reviews/_happened.html", context)
    if context["is_active"]:
        return answer
    return HttpResponseStopPolling(answer.content)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
