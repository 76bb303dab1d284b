"""What a person has typed into an item's forms and not sent yet.

A draft is its person's alone. It outlives the claim, a refused decision and whatever
others do to the item, and ends when the person decides on it, or throws it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm
from reviews.models import Draft, Review
from runs.canonical import clean_object, dumps
from runs.errors import BadInput

NOTES = "notes"
MOST_BYTES = 64 * 1024
NOT_TYPED = frozenset({"csrfmiddlewaretoken", "digest", "seen_at"})


def save(
    review_id: UUID, *, person: User, form: str, fields: Mapping[str, Any]
) -> bool:
    """Keep what the form holds, instead of what was kept of it before.

    `form` is a decision kind or "notes"; `fields` what a browser sends, at most
    `MOST_BYTES` as JSON. False, and nothing is kept, if the item is not open any
    more. Raises BadInput. Locks the review's row, so that nothing is kept of a
    form whose decision is being recorded just now.
    """
    if form != NOTES:
        registry.find(form)
    kept = clean_object({n: v for n, v in fields.items() if n not in NOT_TYPED})
    if len(dumps(kept).encode()) > MOST_BYTES:
        raise BadInput({"": "This is too long to be kept as a draft."})
    with transaction.atomic():
        rows = Review.objects.undecided().select_for_update(no_key=True)
        review = rows.filter(pk=review_id).only("pk").first()
        if review is None:
            return False
        Draft.objects.update_or_create(
            review=review,
            person=person,
            form=form,
            defaults={"fields": kept, "saved_at": clock.now()},
        )
    return True


def discard(review_id: UUID, *, person: User, form: str) -> None:
    """Throw away what was kept of one form."""
    Draft.objects.filter(review=review_id, person=person, form=form).delete()


def forget(review: Review, person: User) -> None:
    """Throw away all the person has typed at the item, in the caller's transaction."""
    Draft.objects.filter(review=review, person=person).delete()


def restore(
    review: Review, person: User, shown: Mapping[str, DecisionForm]
) -> Draft | None:
    """Fill the forms, by name, with the person's drafts; one query at most.

    Returns the draft of a note, which has no such form.

    A form that was filled has its draft at `draft`. Only fields it has are filled;
    a draft that says what the form says anyway is as good as none.
    """
    note = None
    if not getattr(review, "has_drafts", True):
        return note
    for draft in Draft.objects.filter(review=review, person=person):
        form = shown.get(draft.form)
        if form is not None and _fill(form, draft.fields):
            form.draft = draft
        if draft.form == NOTES and draft.fields.get("text"):
            note = draft
    return note


def _fill(form: forms.Form, typed: Mapping[str, Any]) -> bool:
    """Put in what differs from what the form shows; tells whether anything does."""
    is_filled = False
    for name, field in form.fields.items():
        was = form.get_initial_for_field(field, name)
        value = _value(field, name, typed)
        if value is None or _same(value) == _same(was):
            continue
        form.initial[name] = value
        field.widget.attrs["data-was"] = _same(was)
        is_filled = True
    return is_filled


def _value(field: forms.Field, name: str, typed: Mapping[str, Any]) -> Any:
    """What was typed; a box that was sent along unticked is not sent by a browser."""
    if isinstance(field.widget, forms.CheckboxInput):
        return name in typed
    return typed.get(name)


def _same(value: Any) -> str:
    """A value as a browser shows it: line ends and the kind of nothing do not count."""
    if value is None or value is False:
        return ""
    return str(value).replace("\r\n", "\n").replace("\r", "\n")
