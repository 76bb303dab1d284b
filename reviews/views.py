"""Looking at one review: its page and what the page asks for. Nothing here decides."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseStopPolling

from agentops import clock
from agentops.http import AuthenticatedRequest, signed_in
from reviews import access, inbox, page
from reviews.models.review import ReviewStatus
from runs import standing
from runs.states import RunState

NO_CONTENT = 204


@require_GET
@signed_in
def detail(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Everything a decision needs, from why to the forms; opening is only looking."""
    access.refuse_strangers(request.user)
    review = access.review_for(request.user, review_id)
    cases = page.like_cases(review)
    context = page.of(review, request.user) | {
        "near": inbox.neighbours(request.user, review),
        "cases": cases,
        "in_favour": page.in_favour(cases),
        "doing": standing.doing(review.run, None),
    }
    return render(request, "reviews/detail.html", context)


@require_GET
@signed_in
def pane(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """The same, short, for beside the list."""
    access.refuse_strangers(request.user)
    review = access.review_for(request.user, review_id)
    return render(request, "reviews/_pane.html", page.of(review, request.user))


@require_GET
@signed_in
def watch(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Nothing while the item is as it was shown; else a notice, once."""
    review = access.review_for(request.user, review_id)
    is_same = request.GET.get("version", "") == str(review.version)
    if is_same and review.status == ReviewStatus.OPEN.value:
        return HttpResponse(status=NO_CONTENT)
    row = inbox.row(review, request.user, clock.now())
    answer = render(request, "reviews/_changed.html", {"review": review, "row": row})
    return HttpResponseStopPolling(answer.content)


@require_GET
@signed_in
def after(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """How the run goes on after the decision, until it rests."""
    review = access.review_for(request.user, review_id)
    run = review.run
    step = run.steps.order_by("-number").first()
    context = {"run": run, "run_chip": standing.chip(run)}
    context["doing"] = standing.doing(run, step)
    answer = render(request, "reviews/_after.html", context)
    if RunState(run.state).is_active:
        return answer
    return HttpResponseStopPolling(answer.content)
