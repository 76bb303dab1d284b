"""What is answered when something does not go as it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse

from agentops.http import AuthenticatedRequest
from agentops.pages import problem
from reviews import drift
from reviews.decisions import registry
from reviews.filters import Filters
from reviews.models import Decision, Review
from reviews.models.review import ReviewQuerySet, ReviewStatus
from reviews.stale import StaleReview
from runs import words

CONFLICT, UNPROCESSABLE, NOT_ALLOWED = 409, 422, 405


def stale(
    request: AuthenticatedRequest,
    review_id: UUID,
    error: StaleReview,
    sent: Mapping[str, str],
    seen_version: int = 0,
) -> HttpResponse:
    """What was decided by whom, or what changed; what one had typed is given back.

    `seen_version` is the version that the person was shown, 0 if that is not known.
    """
    review = reviews().get(pk=review_id)
    decision = error.decision
    context = {
        "review": review,
        "filters": Filters.read(request.GET),
        "message": error.message,
        "decision": decision,
        "decision_words": registry.done(decision.kind) if decision else "",
        "holder": error.holder,
        "seen_version": seen_version,
        "changes": drift.since(review, seen_version) if seen_version else [],
        "taken_back": _taken_back(review, seen_version),
        "is_expired": review.status == ReviewStatus.EXPIRED.value,
        "sent": {_label(name): text for name, text in sent.items() if text.strip()},
    }
    return render(request, "reviews/stale.html", context, status=CONFLICT)


def _taken_back(review: Review, seen_version: int) -> list[Decision]:
    """What was decided and undone since: rows with the words for them."""
    if not seen_version:
        return []
    undone = review.decisions.exclude(undone_at=None).select_related("actor")
    found = list(undone.filter(item_version__gte=seen_version).order_by("decided_at"))
    for decision in found:
        decision.words = registry.done(decision.kind).lower()  # type: ignore[attr-defined] # for the page
    return found


def _label(name: str) -> str:
    """A form's field as people read it."""
    return name.removeprefix("arguments.").replace("_", " ").capitalize()


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
    return f"{registry.done(decision.kind).lower()} by {words.person(decision.actor)}"


def reviews() -> ReviewQuerySet:
    return Review.objects.select_related("run__agent", "run__submitter", "holder")


def back_to_item(
    request: AuthenticatedRequest, review: Review, part: str = ""
) -> HttpResponseRedirect:
    """On to the item's page, in the list that the form's address names."""
    return redirect(f"{address(review)}{Filters.read(request.GET).tail}{part}")


def address(review: Review) -> str:
    return reverse("reviews:detail", args=[review.pk])
