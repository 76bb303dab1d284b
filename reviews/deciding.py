"""Deciding over HTTP: POST only, bound to what was shown, every refusal with a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, moment, signed_in
from agentops.pages import problem
from reviews import inbox, page, services
from reviews.decisions import registry
from reviews.models import Review
from reviews.services import StaleReview
from runs.errors import BadInput, NotPermitted

OURS = frozenset({"csrfmiddlewaretoken", "item_version", "digest", "seen_at"})
TAKEN = OURS | {"by", "kind", "review_id"}
UNPROCESSABLE, CONFLICT, NOT_ALLOWED = 422, 409, 405


@signed_in
def decide(request: AuthenticatedRequest, review_id: UUID, kind: str) -> HttpResponse:
    """403, 404, 405, 409, 422 or on to the page that shows what was decided."""
    review = get_object_or_404(_reviews(), pk=review_id)
    if request.method != "POST":
        return _only_by_post(request, review)
    sent = {n: v for n, v in request.POST.dict().items() if n not in TAKEN}
    try:
        services.decide(
            review.pk,
            by=request.user,
            kind=kind,
            item_version=_number(request.POST.get("item_version", "")),
            digest=request.POST.get("digest", ""),
            seen_at=moment(request.POST.get("seen_at", "")),
            **sent,
        )
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return _stale(request, review_id, error, sent)
    except BadInput as error:
        return _again(request, review, kind, sent, error)
    return redirect("reviews:detail", review.pk)


@require_POST
@signed_in
def hold(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """Claim, let go, or take over with a reason, as the button says."""
    review = get_object_or_404(_reviews(), pk=review_id)
    try:
        match request.POST.get("act"):
            case "release":
                services.release(review.pk, by=request.user)
            case "take_over":
                reason = request.POST.get("reason", "")
                services.take_over(review.pk, by=request.user, reason=reason)
            case _:
                services.claim(review.pk, by=request.user)
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return _stale(request, review_id, error, {})
    except BadInput as error:
        return problem(
            request,
            UNPROCESSABLE,
            title="Say why you take it over",
            happened=error.message,
            kept="Nothing was changed.",
            next_steps=[("Back to the item", _address(review))],
        )
    return redirect("reviews:detail", review.pk)


def _only_by_post(request: AuthenticatedRequest, review: Review) -> HttpResponse:
    """An address in a mail or in the history must never decide."""
    response = problem(
        request,
        NOT_ALLOWED,
        title="Opening an address decides nothing",
        happened="A decision is made with the buttons on the item's page, by a form"
        " that says which version of the item was seen.",
        kept="Nothing was decided.",
        next_steps=[("Read and decide", _address(review))],
    )
    response["Allow"] = "POST"
    return response


def _stale(
    request: AuthenticatedRequest,
    review_id: UUID,
    error: StaleReview,
    sent: Mapping[str, str],
) -> HttpResponse:
    """What was decided by whom, or what changed; what one had typed is given back."""
    review = _reviews().get(pk=review_id)
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


def _again(
    request: AuthenticatedRequest,
    review: Review,
    kind: str,
    sent: Mapping[str, Any],
    error: BadInput,
) -> HttpResponse:
    """The form once more, with what was typed and what is wrong with it."""
    try:
        registry.find(kind)
    except BadInput:
        return _no_such_decision(request, review, error)
    sheet = page.filled(review, kind, sent)
    if sheet.form.is_valid():
        for name, wrong in error.fields.items():
            sheet.form.add_error(name if name in sheet.form.fields else None, wrong)
    context = {"review": review, "run": review.run, "sheet": sheet}
    return render(request, "reviews/decide.html", context, status=UNPROCESSABLE)


def _no_such_decision(
    request: AuthenticatedRequest, review: Review, error: BadInput
) -> HttpResponse:
    return problem(
        request,
        UNPROCESSABLE,
        title="That cannot be decided here",
        happened=error.message,
        kept="Nothing was decided; the item still waits.",
        next_steps=[("Back to the item", _address(review))],
    )


def _reviews() -> Any:
    return Review.objects.select_related("run__agent", "run__submitter", "holder")


def _address(review: Review) -> str:
    return reverse("reviews:detail", args=[review.pk])


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
