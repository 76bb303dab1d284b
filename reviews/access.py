"""Who may look: the refusals and the one way to an item that every page shares.

What a person may not see is not there (404), whoever asks and by whatever method;
what they may see but not do is refused (403). Pages about no item in particular say
who they are for.
"""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, OuterRef, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from reviews.models import Draft, Note, Review, Seen
from reviews.models.review import ReviewStatus
from reviews.templatetags.inbox import may_review
from runs.models import Tool

_NOTES = Subquery(
    Note.objects.filter(review=OuterRef("pk"))
    .order_by()
    .values("review")
    .values(number=Count("pk"))
)

_TOOL = Tool.objects.filter(name=OuterRef("tool"))


def refuse_strangers(user: User) -> None:
    """For pages about no item: PermissionDenied for who never decides on anything."""
    if not may_review(user):
        raise PermissionDenied("The inbox is for those who decide on parked runs.")


def review_for(user: User, review_id: UUID) -> Review:
    """404 for what is not there and for what the person may not see, alike.

    `is_seen` and `has_drafts` tell what the person has left at it, for no query more.
    """
    if not may_review(user):
        raise Http404
    theirs = {"review": OuterRef("pk"), "person": user}
    reviews = Review.objects.visible_to(user).annotate(
        note_count=_NOTES,
        tool_settings=Subquery(_TOOL.values("settings")),
        tool_undo_s=Subquery(_TOOL.values("undo_s")),
        is_seen=Exists(Seen.objects.filter(**theirs)),
        has_drafts=Exists(Draft.objects.filter(**theirs)),
    )
    related = ("run__agent", "run__version", "run__submitter", "holder")
    review = get_object_or_404(reviews.select_related(*related), pk=review_id)
    decisions = review.decisions.filter(undone_at=None).select_related("actor")
    is_open = review.status == ReviewStatus.OPEN.value
    found = [] if is_open else list(decisions)
    review.standing = found  # type: ignore[attr-defined] # as in seen_by
    return review
