"""What changed since somebody looked or approved, in words, and to whom it goes."""

from __future__ import annotations

from typing import Any

import pytest

from agentops import clock
from reviews import drift, services, undo
from reviews.models import Review
from reviews.stale import StaleReview
from runs import policy
from runs.models import Tool
from tests.support import factory
from tests.support.advance import advance

pytestmark = pytest.mark.django_db

TERMS: dict[str, Any] = {
    "policy": "ask_below",
    "threshold": "0.8",
    "untrusted": False,
    "settings": {"limit": 5},
    "parameters": {"to": {"type": "string"}, "copies": {"type": "integer"}},
    "required": ["to"],
}


@pytest.fixture(autouse=True)
def fresh_policy():
    policy.forget()
    yield
    policy.forget()


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def ben():
    return factory.make_user("ben", "operators")


@pytest.fixture
def review():
    return factory.park()


def decide(review, by, kind="approve", **payload):
    return services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=payload,
    )


def admin_sets(**fields):
    Tool.objects.update_or_create(name="post_letter", defaults=fields)
    policy.forget()


def returned(review):
    """The item that opens once the driver finds that the call is another one."""
    advance(review.run)
    return Review.objects.open().get(run=review.run_id)


# ---- the words


@pytest.mark.parametrize(
    ("change", "name", "was", "now"),
    [
        ({"policy": "always"}, "Policy", "asks below the threshold", "always asks"),
        ({"threshold": "0.9"}, "Threshold", "80 %", "90 %"),
        ({"untrusted": True}, "Its results", "trusted", "untrusted content"),
        ({"settings": {"limit": 9}}, "Setting limit", "5", "9"),
        ({"settings": {}}, "Setting limit", "5", "not there"),
        ({"required": []}, "Argument to", "string, required", "string, optional"),
        (
            {"parameters": {"to": {"type": "string"}}},
            "Argument copies",
            "integer, optional",
            "not there",
        ),
        (
            {"parameters": TERMS["parameters"] | {"express": {"type": "boolean"}}},
            "Argument express",
            "not there",
            "boolean, optional",
        ),
    ],
)
def test_a_difference_is_told_in_words(change, name, was, now):
    found = drift.differences(TERMS, TERMS | change)

    assert found == [{"name": name, "was": was, "now": now}]


def test_what_is_not_known_is_not_made_up():
    assert drift.differences({}, TERMS) == []
    assert drift.differences(TERMS, TERMS) == []


# ---- after an approval


def test_what_changed_after_an_approval_goes_to_the_same_person(review, ana):
    decide(review, ana)
    admin_sets(threshold="0.9")

    again = returned(review)

    assert again.reason == "changed"
    assert again.holder == ana
    assert again.holder_until > clock.now()
    assert again.detail["differences"] == [
        {"name": "Threshold", "was": "80 %", "now": "90 %"}
    ]


def test_who_may_not_decide_any_more_does_not_hold_it(review, ana):
    decide(review, ana)
    ana.groups.clear()
    admin_sets(threshold="0.9")

    assert returned(review).holder is None


def test_a_tool_that_was_switched_off_comes_back_as_well(review, ana):
    decide(review, ana)
    admin_sets(policy="blocked")

    again = returned(review)

    assert (again.reason, again.holder) == ("changed", ana)


def test_the_page_shows_what_is_different(client, review, ana):
    decide(review, ana)
    admin_sets(threshold="0.9")
    client.force_login(ana)

    shown = client.get(f"/reviews/{returned(review).pk}/").content.decode()

    assert "What is different now" in shown
    assert "80 %" in shown
    assert "90 %" in shown


# ---- before a decision


def test_a_decision_on_what_changed_is_refused_with_the_difference(review, ana, client):
    admin_sets(threshold="0.9")
    client.force_login(ana)

    answer = client.post(
        f"/reviews/{review.pk}/decide/approve/",
        {"item_version": 1, "digest": review.digest, "note": "Looks fine to me."},
    )

    shown = answer.content.decode()
    assert answer.status_code == 409
    for words in ("Threshold", "80 %", "90 %", "you saw version 1", "version 2"):
        assert words in shown
    assert "Looks fine to me." in shown
    review.refresh_from_db()
    decide(review, ana)


def test_a_decision_on_another_call_says_that_the_version_is_the_same(
    review, ana, client
):
    client.force_login(ana)

    answer = client.post(
        f"/reviews/{review.pk}/decide/approve/",
        {"item_version": review.version, "digest": "of another call"},
    )

    assert answer.status_code == 409
    assert f"{review.version}, as you saw it" in answer.content.decode()


def test_who_was_away_reads_what_was_decided_and_taken_back(
    review, ana, ben, client, configured
):
    configured(undo_irreversible_s=60)
    decide(review, ana)
    undo.undo(review.pk, by=ana)
    Review.objects.update(holder=None)
    client.force_login(ben)

    answer = client.post(
        f"/reviews/{review.pk}/decide/approve/",
        {"item_version": 1, "digest": review.digest},
    )

    shown = answer.content.decode()
    assert answer.status_code == 409
    assert "A decision was taken back, by ana" in shown
    assert "had decided (approved)" in shown


def test_a_new_version_counts_as_a_change_since_an_older_one(review, ana):
    admin_sets(threshold="0.9")
    with pytest.raises(StaleReview):
        decide(review, ana)
    review.refresh_from_db()

    assert [change["version"] for change in drift.since(review, 1)] == [2]
    assert drift.since(review, 2) == []


# ---- what is refused is corrected in sight of the item


def test_the_form_that_was_refused_stands_beside_the_item(client, review, ana):
    client.force_login(ana)

    answer = client.post(
        f"/reviews/{review.pk}/decide/reject/",
        {"item_version": 1, "digest": review.digest, "text": " "},
    )

    shown = answer.content.decode()
    assert answer.status_code == 422
    assert "Nothing was decided yet" in shown
    assert "Why here" in shown
    assert "September grew 37.3" in shown
