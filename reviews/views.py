"""Looking: the inbox, its rows, the page of one review. Nothing here decides."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseStopPolling

from agentops import clock
from agentops.http import AuthenticatedRequest, signed_in
from reviews import inbox, page
from reviews.models import Review
from reviews.models.review import ReviewStatus
from reviews.templatetags.inbox import may_review
from runs import standing
from runs.states import RunState

NO_CONTENT = 204


@require_GET
@signed_in
def inbox_page(request: AuthenticatedRequest) -> HttpResponse:
    """The list of one view, and the chosen item beside it where there is room."""
    _refuse_strangers(request)
    filters = inbox.Filters.read(request.GET)
    now = clock.now()
    rows = inbox.rows(request.user, filters, now)
    context = {
        "filters": filters,
        "navigation": inbox.navigation(request.user, filters, now),
        "rows": rows,
        "newest": now.isoformat(),
        "now": now,
        "agents": inbox.agents(),
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
    return None if pk is None else _review(request, pk)


@require_GET
@signed_in
def rows(request: AuthenticatedRequest) -> HttpResponse:
    """The rows a list shows, fresh, in their order; new ones are only counted."""
    _refuse_strangers(request)
    filters = inbox.Filters.read(request.GET)
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


@require_GET
@signed_in
def detail(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Everything a decision needs, from why to the forms; opening is only looking."""
    _refuse_strangers(request)
    review = _review(request, review_id)
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
    _refuse_strangers(request)
    review = _review(request, review_id)
    return render(request, "reviews/_pane.html", page.of(review, request.user))


@require_GET
@signed_in
def watch(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Nothing while the item is as it was shown; else a notice, once."""
    review = _review(request, review_id)
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
    review = _review(request, review_id)
    run = review.run
    step = run.steps.order_by("-number").first()
    context = {"run": run, "run_chip": standing.chip(run)}
    context["doing"] = standing.doing(run, step)
    answer = render(request, "reviews/_after.html", context)
    if RunState(run.state).is_active:
        return answer
    return HttpResponseStopPolling(answer.content)


def _refuse_strangers(request: AuthenticatedRequest) -> None:
    if not may_review(request.user):
        raise PermissionDenied("The inbox is for those who decide on parked runs.")


def _review(request: AuthenticatedRequest, review_id: UUID) -> Review:
    """404 for what is not there and for what the person may not see, alike."""
    if not may_review(request.user):
        raise Http404
    reviews = Review.objects.visible_to(request.user)
    related = ("run__agent", "run__version", "run__submitter", "holder")
    review = get_object_or_404(reviews.select_related(*related), pk=review_id)
    decisions = review.decisions.filter(undone_at=None).select_related("actor")
    review.standing = list(decisions)  # type: ignore[attr-defined] # as in seen_by
    return review
