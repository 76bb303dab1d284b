"""Deciding over HTTP: POST only, bound to what was shown, every refusal with a page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, moment, number, signed_in
from agentops.pages import problem
from reviews import access, answers, drafts, expiring, page, seal, services
from reviews import undo as undoing
from reviews.answers import NOT_ALLOWED, UNPROCESSABLE
from reviews.decisions import registry
from reviews.filters import Filters
from reviews.models import Review
from reviews.stale import StaleReview
from runs.errors import BadInput, NotPermitted, Stale

OURS = frozenset({"csrfmiddlewaretoken", "item_version", "digest", "seen_at"})


@signed_in
def decide(request: AuthenticatedRequest, review_id: UUID, kind: str) -> HttpResponse:
    """403, 404, 405, 409, 422 or on to the page that shows what was decided."""
    review = access.review_for(request.user, review_id)
    if request.method != "POST":
        return _only_by_post(request, review)
    sent: dict[str, Any] = {
        n: v for n, v in request.POST.dict().items() if n not in OURS
    }
    if sent.pop("preview", ""):
        return _preview(request, review, kind, sent)
    try:
        services.decide(
            review.pk,
            by=request.user,
            kind=kind,
            item_version=number(request.POST.get("item_version", "")),
            digest=request.POST.get("digest", ""),
            seen_at=moment(request.POST.get("seen_at", "")),
            payload=sent,
        )
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        _keep(request, review, kind)
        seen = number(request.POST.get("item_version", ""))
        return answers.stale(request, review_id, error, sent, seen)
    except BadInput as error:
        _keep(request, review, kind)
        return _again(request, review, kind, sent, error)
    return answers.back_to_item(request, review)


def _keep(request: AuthenticatedRequest, review: Review, kind: str) -> None:
    """What was refused stays the person's draft, as far as it can be one."""
    sent = request.POST.dict()
    with suppress(BadInput):
        drafts.save(review.pk, person=request.user, form=kind, fields=sent)


@require_POST
@signed_in
def undo(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """403, 404, 405, 409 or back to the item, which is open again."""
    review = access.review_for(request.user, review_id)
    decision_id = number(request.POST.get("decision", "")) or None
    try:
        undoing.undo(review.pk, by=request.user, decision_id=decision_id)
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return answers.too_late(request, review_id, error)
    messages.success(request, "Taken back. Nothing was carried out; you hold the item.")
    return answers.back_to_item(request, review)


@require_POST
@signed_in
def ask_again(request: AuthenticatedRequest, review_id: UUID) -> HttpResponse:
    """403, 404, 405, 409 or back to the expired item, which is open again."""
    review = access.review_for(request.user, review_id)
    try:
        expiring.ask_again(review.pk, by=request.user)
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    except StaleReview as error:
        return answers.stale(request, review_id, error, {})
    messages.success(request, "Asked again. It waits for a decision once more.")
    return answers.back_to_item(request, review)


def _only_by_post(request: AuthenticatedRequest, review: Review) -> HttpResponse:
    """An address in a mail or in the history must never decide."""
    response = problem(
        request,
        NOT_ALLOWED,
        title="Opening an address decides nothing",
        happened="A decision is made with the buttons on the item's page, by a form"
        " that says which version of the item was seen.",
        kept="Nothing was decided.",
        next_steps=[("Read and decide", answers.address(review))],
    )
    response["Allow"] = "POST"
    return response


def _preview(
    request: AuthenticatedRequest, review: Review, kind: str, sent: dict[str, Any]
) -> HttpResponse:
    """The form once more with what it would change, checked; nothing is decided."""
    version = number(request.POST.get("item_version", ""))
    try:
        chosen = registry.find(kind)
        if wrong := seal.broken(
            review, chosen, version, request.POST.get("digest", "")
        ):
            raise StaleReview(wrong)
        if not chosen.offered(review):
            raise BadInput({"": "This cannot be decided here."})
        chosen.to_verdict(review, chosen.clean(review, sent))
    except StaleReview as error:
        return answers.stale(request, review.pk, error, sent)
    except Stale as error:
        return answers.stale(request, review.pk, StaleReview(error.message), sent)
    except BadInput as error:
        return _again(request, review, kind, sent, error)
    sheet = page.filled(review, kind, sent)
    shown = {"sheet": sheet, "is_preview": True}
    filters = Filters.read(request.GET)
    context = page.whole(review, request.user, filters) | shown
    return render(request, "reviews/decide.html", context)


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
    filters = Filters.read(request.GET)
    context = page.whole(review, request.user, filters) | {"sheet": sheet}
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
        next_steps=[("Back to the item", answers.address(review))],
    )
