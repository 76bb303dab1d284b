"""What is answered when something does not go as it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agentops.http import AuthenticatedRequest
from agentops.pages import problem
from reviews import inbox
from reviews.models import Decision, Review
from reviews.models.review import ReviewQuerySet
from reviews.stale import StaleReview

CONFLICT, UNPROCESSABLE, NOT_ALLOWED = 409, 422, 405


def stale(
    request: AuthenticatedRequest,
    review_id: UUID,
    error: StaleReview,
    sent: Mapping[str, str],
) -> HttpResponse:
    """What was decided by whom, or what changed; what one had typed is given back."""
    review = reviews().get(pk=review_id)
    decision = error.decision
    context = {
        "review": review,
        "message": error.message,
        "decision": decision,
        "decision_words": inbox.decided_words(decision) if decision else "",
        "holder": error.holder,
        "sent": {name: text for name, text in sent.items() if text.strip()},
    }
    return render(request, "reviews/stale.html", context, status=CONFLICT)


def too_late(
    request: AuthenticatedRequest, review_id: UUID, error: StaleReview
) -> HttpResponse:
    """A decision that can no longer be taken back."""
    review = reviews().get(pk=review_id)
    decided = ""
    if error.decision is not None:
        decided = f" What was decided stands: {_decided(error.decision)}."
    return problem(
        request,
        CONFLICT,
        title="This cannot be taken back",
        happened=error.message,
        kept=f"Nothing was changed.{decided}",
        next_steps=[("See how the run goes on", address(review))],
    )


def _decided(decision: Decision) -> str:
    who = decision.actor.get_full_name() or decision.actor.get_username()
    return f"{inbox.decided_words(decision).lower()} by {who}"


def reviews() -> ReviewQuerySet:
    return Review.objects.select_related("run__agent", "run__submitter", "holder")


def address(review: Review) -> str:
    return reverse("reviews:detail", args=[review.pk])
