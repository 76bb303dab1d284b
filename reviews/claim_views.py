"""Holding an item over HTTP: who holds it, and claiming, keeping, leaving, taking it.

A page without script posts and comes back to itself; one with script gets the part
that says who holds the item, whatever became of the wish.
"""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from agentops import clock
from agentops.http import AuthenticatedRequest, moment, signed_in
from agentops.pages import problem
from reviews import access, answers, claims, holding
from reviews.answers import UNPROCESSABLE
from reviews.holding import Before, Holding
from reviews.models import Review
from reviews.rights import may_decide
from reviews.stale import StaleReview
from runs.errors import BadInput, NotPermitted

NO_CONTENT = 204
BY_ITSELF = frozenset({"keep", "leave"})
"""What a page wishes while nobody does anything."""


@require_POST
@signed_in
def hold(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Do as the button says: claim, keep, leave, release, or take over with a reason."""
    review = access.review_for(request.user, review_id)
    request.is_poll = request.POST.get("act") in BY_ITSELF
    try:
        _act(request, review)
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        if not request.htmx:
            return answers.stale(request, review_id, error, {})
    except BadInput as error:
        return _no_reason(request, review, error)
    if request.POST.get("act") == "leave":
        return HttpResponse(status=NO_CONTENT)
    if not request.htmx:
        return answers.back_to_item(request, review)
    shown = Before(request.POST.get("shown", ""), request.POST.get("lost", ""))
    fresh = access.review_for(request.user, review_id)
    return _part(request, holding.of(fresh, request.user, clock.now(), shown))


def _act(request: AuthenticatedRequest, review: Review) -> None:
    by, sent = request.user, request.POST
    match sent.get("act"):
        case "release":
            claims.release(review.pk, by=by)
        case "leave":
            claims.leave(review.pk, by=by, until=moment(sent.get("until", "")))
        case "keep":
            claims.keep(review.pk, by=by)
        case "take_over":
            claims.take_over(review.pk, by=by, reason=sent.get("reason", ""))
        case _:
            claims.claim(review.pk, by=by)


def _part(request: AuthenticatedRequest, held: Holding) -> HttpResponse:
    context = {
        "held": held,
        "review": held.review,
        "blocked": may_decide(request.user, held.review),
    }
    return render(request, "reviews/_held.html", context)


def _no_reason(
    request: AuthenticatedRequest, review: Review, error: BadInput
) -> HttpResponse:
    return problem(
        request,
        UNPROCESSABLE,
        title="Say why you take it over",
        happened=error.message,
        kept="Nothing was changed.",
        next_steps=[("Back to the item", answers.address(review))],
    )
