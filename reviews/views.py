"""The inbox and the page of one review."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from agentops.http import AuthenticatedRequest, signed_in
from reviews.models import Review


@signed_in
def inbox(request: AuthenticatedRequest) -> HttpResponse:
    return redirect("runs:list")


@signed_in
def detail(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    review = get_object_or_404(Review.objects.visible_to(request.user), pk=review_id)
    return redirect("runs:detail", review.run_id)
