"""Claiming an item, letting go of it, and taking it over, by one POST each."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, signed_in
from agentops.pages import problem
from reviews import access, answers, claims
from reviews.answers import UNPROCESSABLE
from reviews.stale import StaleReview
from runs.errors import BadInput, NotPermitted


@require_POST
@signed_in
def hold(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Claim, let go, or take over with a reason, as the button says."""
    access.refuse_strangers(request.user)
    review = access.review_for(request.user, review_id)
    try:
        match request.POST.get("act"):
            case "release":
                claims.release(review.pk, by=request.user)
            case "take_over":
                reason = request.POST.get("reason", "")
                claims.take_over(review.pk, by=request.user, reason=reason)
            case _:
                claims.claim(review.pk, by=request.user)
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return answers.stale(request, review_id, error, {})
    except BadInput as error:
        return problem(
            request,
            UNPROCESSABLE,
            title="Say why you take it over",
            happened=error.message,
            kept="Nothing was changed.",
            next_steps=[("Back to the item", answers.address(review))],
        )
    return redirect("reviews:detail", review.pk)
