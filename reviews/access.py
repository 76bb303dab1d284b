"""Who may look: the refusals and the one way to an item that every page shares."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404

from reviews.models import Review
from reviews.templatetags.inbox import may_review


def refuse_strangers(user: User) -> None:
    """Raise PermissionDenied for who never decides on anything."""
    if not may_review(user):
        raise PermissionDenied("The inbox is for those who decide on parked runs.")


def review_for(user: User, review_id: UUID) -> Review:
    """404 for what is not there and for what the person may not see, alike."""
    if not may_review(user):
        raise Http404
    reviews = Review.objects.visible_to(user)
    related = ("run__agent", "run__version", "run__submitter", "holder")
    review = get_object_or_404(reviews.select_related(*related), pk=review_id)
    decisions = review.decisions.filter(undone_at=None).select_related("actor")
    review.standing = list(decisions)  # type: ignore[attr-defined] # as in seen_by
    return review
