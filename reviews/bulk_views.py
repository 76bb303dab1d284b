"""Deciding on many items over HTTP: the look before, the decision, the receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from agentops import clock
from agentops.http import AuthenticatedRequest, signed_in, words
from agentops.pages import problem
from reviews import access, bulk, groups, preflight
from reviews.answers import NOT_ALLOWED, UNPROCESSABLE
from runs.errors import BadInput

OK = 200
FIELDS = ("note", "text", "preset")
"""Of the forms of the decisions that are made in bulk."""


@require_GET
@signed_in
def alike(request: AuthenticatedRequest, shape: str) -> HttpResponse:
    """The group of look-alikes that have this shape; decides nothing."""
    access.refuse_strangers(request.user)
    ids = groups.members(request.user, shape)
    asked = preflight.Asked(ids, request.GET.get("kind", ""))
    return _look(request, asked)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def together(request: AuthenticatedRequest) -> HttpResponse:
    """What was selected, ready to be decided on; decides nothing."""
    access.refuse_strangers(request.user)
    sent = request.POST if request.method == "POST" else request.GET
    return _look(request, _asked(sent))


@signed_in
def decide(request: AuthenticatedRequest) -> HttpResponse:
    """One decision on each of the ticked items, and a receipt for each."""
    access.refuse_strangers(request.user)
    if request.method != "POST":
        return _only_by_post(request)
    asked = _asked(request.POST)
    items = [item for text in request.POST.getlist("pick") if (item := read(text))]
    try:
        receipts = bulk.decide(
            items,
            by=request.user,
            kind=asked.kind,
            batch=words(request.POST.get("batch", ""), 32),
            payload=asked.entered,
        )
    except BadInput as error:
        return _look(request, asked, error.fields)
    return _receipts(request, asked, receipts)


read = bulk.Item.read


def _asked(sent: QueryDict) -> preflight.Asked:
    """All that was a candidate, what of it could be ticked, and what was."""
    picked = [item.id for text in sent.getlist("pick") if (item := read(text))]
    shown = [item.id for text in sent.getlist("box") if (item := read(text))]
    known = [item.id for text in sent.getlist("id") if (item := read(text))]
    return preflight.Asked(
        ids=[*known, *picked],
        kind=sent.get("kind", ""),
        entered={name: str(sent[name]) for name in FIELDS if name in sent},
        shown=frozenset(shown),
        picked=frozenset(picked),
    )


def _look(
    request: AuthenticatedRequest,
    asked: preflight.Asked,
    wrong: Mapping[str, str] | None = None,
) -> HttpResponse:
    look = preflight.of(asked, request.user, clock.now(), wrong)
    context = {"look": look, "batch": uuid4().hex, "most": bulk.MOST}
    status = OK if wrong is None else UNPROCESSABLE
    return render(request, "reviews/bulk.html", context, status=status)


def _receipts(
    request: AuthenticatedRequest,
    asked: preflight.Asked,
    receipts: Sequence[bulk.Receipt],
) -> HttpResponse:
    done = [one for one in receipts if one.decision is not None]
    shapes = {one.review.shape for one in done} - {""}
    shape = shapes.pop() if len(shapes) == 1 else ""
    context = {
        "done": done,
        "failed": [one for one in receipts if one.decision is None],
        "total": len(receipts),
        "kind": asked.kind,
        "entered": asked.entered,
        "shape": shape,
        "more": len(groups.members(request.user, shape)) if shape else 0,
    }
    return render(request, "reviews/bulk_receipts.html", context)


def _only_by_post(request: AuthenticatedRequest) -> HttpResponse:
    response = problem(
        request,
        NOT_ALLOWED,
        title="Opening an address decides nothing",
        happened="Items are decided on together by the form that lists them.",
        kept="Nothing was decided.",
        next_steps=[("Back to the inbox", reverse("reviews:inbox"))],
    )
    response["Allow"] = "POST"
    return response
