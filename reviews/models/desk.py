"""What people leave at an item, whoever decides it: notes, drafts, and having read it."""

from __future__ import annotations

from enum import StrEnum

from django.conf import settings
from django.db import models

from reviews.models.review import Review
from runs.states import choices


class NoteKind(StrEnum):
    NOTE = "note"
    TAKE_OVER = "take_over"
    ASKED_AGAIN = "asked_again"


def note_kinds() -> list[tuple[str, str]]:
    return choices(NoteKind)


class Note(models.Model):
    """A word to the other reviewers; append-only, the agent never sees it.

    A `take_over` note is the reason somebody gave for taking the item from its holder; an
    `asked_again` note says who opened an expired item anew.
    """

    review = models.ForeignKey(Review, models.CASCADE, related_name="notes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+"
    )
    kind = models.CharField(max_length=20, choices=note_kinds, default=NoteKind.NOTE)
    text = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.author}"


class Draft(models.Model):
    """What a person has typed into one of an item's forms and not sent yet.

    `form` names the form, a decision kind or "notes"; `fields` is what a browser
    would send. It outlives the claim and ends with the person's decision.
    """

    review = models.ForeignKey(Review, models.CASCADE, related_name="drafts")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+"
    )
    form = models.CharField(max_length=30)
    fields = models.JSONField(default=dict)
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["review", "person", "form"], name="one_draft_per_form"
            )
        ]

    def __str__(self) -> str:
        return f"draft of {self.form} by {self.person}"


class Seen(models.Model):
    """A person has opened the item."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="seen_by")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+"
    )
    first_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["review", "person"], name="one_first_look_per_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.review_id} seen by {self.person}"
