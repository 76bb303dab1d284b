"""Keeping a draft while one types, and throwing it away, by one POST each."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, signed_in
from reviews import access, drafts
from reviews.answers import CONFLICT, UNPROCESSABLE, back_to_item
from runs.errors import BadInput

NO_CONTENT = 204


@require_POST
@signed_in
def draft(request: AuthenticatedRequest, review_id: UUID, form: str) -> HttpResponse:
    """204 once it is kept, 409 where the item is closed, 422 for what is no draft.

    The button that discards it comes back to the page.
    """
    review = access.review_for(request.user, review_id)
    if request.POST.get("act") == "discard":
        drafts.discard(review.pk, person=request.user, form=form)
        return back_to_item(request, review)
    typed = request.POST.dict()
    try:
        is_kept = drafts.save(review.pk, person=request.user, form=form, fields=typed)
    except BadInput as error:
        return HttpResponse(error.message, "text/plain", UNPROCESSABLE)
    return HttpResponse(status=NO_CONTENT if is_kept else CONFLICT)
