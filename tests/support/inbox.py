"""The inbox as a client sees it, and what happens to it meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse

from agentops import clock
from reviews import services
from reviews.models import Review
from tests.support import factory

HTMX = {"HX-Request": "true"}


def look(client: Client, query: str = "", target: str = "") -> Any:
    headers = HTMX | {"HX-Target": target} if target else {}
    answer = client.get(f"{reverse('reviews:inbox')}?{query}", headers=headers)
    assert answer.status_code == 200
    return answer


def listed(client: Client, query: str = "") -> list[Review]:
    return [row.review for row in look(client, query).context["rows"]]


def refresh(client: Client, page: Any, **changes: Any) -> Any:
    """As the page asks for its rows; a refresh can be given for a page as well."""
    shown = page.context
    sent: dict[str, Any] = dict(shown["filters"].hidden)
    sent |= {"id": [str(row.review.pk) for row in shown["rows"]]}
    sent |= {"mark": shown["mark"], "until": shown["until"]} | changes
    return client.post(reverse("reviews:rows"), sent, headers=HTMX)


def close(review: Review, kind: str = "reject", **payload: Any) -> None:
    services.decide(
        review.pk,
        by=factory.make_user("", "operators"),
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=payload,
    )


def age(review: Review, **ago: float) -> None:
    opened_at = clock.now() - timedelta(**ago)
    Review.objects.filter(pk=review.pk).update(opened_at=opened_at)
