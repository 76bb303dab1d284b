"""The submitter answers their agent's question, where the agent's policy lets them."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agentops.http import AuthenticatedRequest, moment, number, signed_in
from agentops.pages import problem
from reviews import asking, services
from reviews.answers import CONFLICT, UNPROCESSABLE
from reviews.models import Review
from reviews.stale import StaleReview
from runs.errors import BadInput, NotPermitted


@require_http_methods(["GET", "POST"])
@signed_in
def answer(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """404 for who did not ask, 403 where others answer, 409, 422, or on to the run."""
    rows = Review.objects.select_related("run__agent")
    review = get_object_or_404(rows, pk=review_id, run__submitter=request.user)
    if request.method == "POST":
        return _take(request, review)
    asked = asking.of(review, request.user)
    if asked is None:
        return redirect("runs:detail", review.run_id)
    return render(request, "reviews/answer.html", {"asked": asked})


def _take(request: AuthenticatedRequest, review: Review) -> HttpResponse:
    here = reverse("runs:detail", args=[review.run_id])
    sent = {name: request.POST.get(name, "") for name in ("choice", "text")}
    try:
        services.decide(
            review.pk,
            by=request.user,
            kind=asking.KIND,
            item_version=number(request.POST.get("item_version", "")),
            digest=request.POST.get("digest", ""),
            seen_at=moment(request.POST.get("seen_at", "")),
            payload=sent,
        )
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return problem(
            request,
            CONFLICT,
            title="This needs no answer any more",
            happened=error.message,
            kept=f"Your answer was not used: {sent['text'] or sent['choice']}",
            next_steps=[("See how the run goes on", here)],
        )
    except BadInput:
        asked = asking.of(review, request.user, sent)
        context = {"asked": asked}
        return render(request, "reviews/answer.html", context, status=UNPROCESSABLE)
    messages.success(request, "Your answer is with the agent. The run goes on.")
    return redirect(here)
