"""What a review is found by: one text for each, and the one way to look into it."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Concat

from reviews.models import Decision, Review
from reviews.models.review import ReviewQuerySet
from runs import searching
from runs.canonical import Json, clean_text, dumps, shorten
from runs.models import Run

MAX_SEARCH = 20_000
MAX_REMEMBERED = 2_000


def search(reviews: ReviewQuerySet, text: str) -> ReviewQuerySet:
    """Those that hold every word of `text`, upper and lower case alike."""
    return searching.matching(reviews, text, is_stored=True)


def text_of(run: Run, park: Mapping[str, Json]) -> str:
    """All that people look for a review by: task, arguments, error, guidance; 1 query.

    Guidance is what the run was given when it started, and what people have told its
    agent since.
    """
    call = park["call"] or {}
    told = Decision.objects.filter(review__run=run, undone_at=None).exclude(note="")
    parts = [
        park["title"],
        park["question"],
        run.agent.name,
        run.submitter.get_username(),
        run.task,
        dumps(call["arguments"]) if call else "",
        (park["error"] or {}).get("text", ""),
        *(dumps(guidance) for guidance in run.guidance),
        *told.values_list("note", flat=True),
    ]
    text = clean_text("\n".join(filter(None, parts)))
    return shorten(text, MAX_SEARCH).lower()


def remember(review_id: UUID, words: str) -> None:
    """Let the review be found by these words too, such as the note of its decision."""
    if words.strip():
        kept = shorten(clean_text(words), MAX_REMEMBERED).lower()
        longer = Concat("search_text", Value(f"\n{kept}"))
        Review.objects.filter(pk=review_id).update(search_text=longer)
