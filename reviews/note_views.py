"""Notes over HTTP: one more. Whoever may see an item may write."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, signed_in
from reviews import access, drafts, notes, page
from reviews.answers import UNPROCESSABLE, back_to_item
from reviews.filters import Filters
from reviews.models import Review
from runs.errors import BadInput


@require_POST
@signed_in
def add(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Keep one more; 422 for what cannot be kept, and it stays typed."""
    review = access.review_for(request.user, review_id)
    text = request.POST.get("text", "")
    try:
        notes.add(review, by=request.user, text=text)
    except BadInput as error:
        wrong = error.fields["text"]
        return _again(request, review, {"text": text, "wrong": wrong})
    drafts.discard(review.pk, person=request.user, form=drafts.NOTES)
    if not request.htmx:
        return back_to_item(request, review, "#notes")
    context = {"review": review, "notes": notes.of(review)}
    return render(request, "reviews/_notes.html", context)


def _again(
    request: AuthenticatedRequest, review: Review, typed: dict[str, str]
) -> HttpResponse:
    """What was typed stays, with what is wrong: in place, or on the whole page."""
    if request.htmx:
        context = {"review": review, "notes": notes.of(review), "typed": typed}
        answer = render(request, "reviews/_notes.html", context)
    else:
        filters = Filters.read(request.GET)
        context = page.whole(review, request.user, filters) | {"typed": typed}
        answer = render(request, "reviews/detail.html", context)
    answer.status_code = UNPROCESSABLE
    return answer
