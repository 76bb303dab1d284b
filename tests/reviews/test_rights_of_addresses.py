"""Who may do what at every address of the desk: nothing is done, and nothing told."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from reviews.models import Decision, Draft, Note, Review
from runs.models import Run
from tests.support import factory

pytestmark = pytest.mark.django_db

READ = ("detail", "pane", "live", "happened", "answer")
WRITE = ("notes", "hold", "ask_again", "undo", "answer")
KINDS = ("approve", "edit", "fork", "abort", "reject", "guide", "supply", "nonsense")


def addresses(review: Review) -> dict[str, str]:
    named = {name: reverse(f"reviews:{name}", args=[review.pk]) for name in WRITE}
    for kind in KINDS:
        named[kind] = reverse("reviews:decide", args=[review.pk, kind])
    named["draft"] = reverse("reviews:draft", args=[review.pk, "approve"])
    return named


def pages(review: Review) -> list[str]:
    return [reverse(f"reviews:{name}", args=[review.pk]) for name in READ]


def sent(review: Review) -> dict[str, Any]:
    own = {"item_version": review.version, "digest": review.digest}
    more = {"text": "Because.", "step": "1", "result": "Done.", "act": "claim"}
    return own | more


def together(review: Review, kind: str) -> dict[str, Any]:
    item = f"{review.pk}:{review.version}:{review.digest}"
    return {"pick": item, "kind": kind, "text": "Because.", "batch": "b"}


def state_of(review: Review) -> Any:
    others = [m.objects.count() for m in (Decision, Draft, Note, Run)]
    row = Review.objects.filter(pk=review.pk).values().get()
    return row, Run.objects.filter(pk=review.run_id).values().get(), others


@pytest.fixture
def review() -> Review:
    """One that only another group decides on."""
    others = Group.objects.create(name="others")
    agent = factory.make_agent()
    agent.deciders.add(others)
    return factory.park(factory.make_run(agent, task="A secret plan."))


@pytest.mark.parametrize("group", ["submitters", "operators"])
def test_who_may_not_see_an_item_changes_nothing_and_reads_nothing(
    client, review, group
):
    client.force_login(factory.make_user("cat", group))
    before = state_of(review)

    answers = [client.get(page) for page in pages(review)]
    answers += [client.post(to, sent(review)) for to in addresses(review).values()]

    assert {answer.status_code for answer in answers} <= {403, 404}
    for answer in answers:
        assert "analytics" not in answer.content.decode()
        assert "secret" not in answer.content.decode()
    assert state_of(review) == before


@pytest.mark.parametrize("kind", ["approve", "reject", "abort"])
def test_who_may_not_see_an_item_cannot_decide_on_it_with_others(client, review, kind):
    client.force_login(factory.make_user("cat", "operators"))
    before = state_of(review)

    answer = client.post(reverse("reviews:decide_together"), together(review, kind))

    assert "analytics" not in answer.content.decode()
    assert state_of(review) == before


@pytest.mark.parametrize("kind", ["approve", "reject", "abort"])
def test_who_asked_cannot_decide_by_any_way(client, kind):
    ana = factory.make_user("ana", "operators", "submitters")
    review = factory.park(factory.make_run(by=ana))
    client.force_login(ana)

    ways = {**addresses(review)}
    for name in ("notes", "draft"):
        del ways[name]
    answers = [client.post(to, sent(review)) for to in ways.values()]
    client.post(reverse("reviews:decide_together"), together(review, kind))

    assert {answer.status_code for answer in answers} <= {403, 404, 409, 422}
    assert not Decision.objects.exists()
    review.refresh_from_db()
    assert (review.status, review.holder) == ("open", None)
    assert Run.objects.get().state == "awaiting_human"
