"""One decision on many items: each by itself, what is left out, and the receipts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentops import clock
from reviews import bulk, claims, services, undo
from reviews.models import Decision, Review
from runs import policy
from runs.errors import BadInput
from runs.models import Run, Tool
from runs.states import ParkReason, RunState
from runs.tools import registry
from tests.support import factory, lookalikes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def prices():
    policy.forget()
    with registry.added(lookalikes.PRICE, lookalikes.SHOP):
        yield
    policy.forget()


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def ben():
    return factory.make_user("ben", "operators")


@pytest.fixture
def agent():
    return lookalikes.make_agent()


def decide(reviews, by, kind="approve", batch="b1", **payload):
    """As somebody decides who has just looked at them."""
    items = [bulk.Item.of(review) for review in reviews]
    return bulk.decide(items, by=by, kind=kind, batch=batch, payload=payload)


def why_nots(receipts):
    return [receipt.why_not for receipt in receipts]


def waits(review):
    review.refresh_from_db()
    return review.status == "open"


def test_each_item_gets_a_decision_and_a_receipt_of_its_own(ana, agent):
    reviews = [lookalikes.price(18.9 + n, agent) for n in range(3)]

    receipts = decide(reviews, ana, note="Fine.")

    assert [one.review.pk for one in receipts] == [one.pk for one in reviews]
    assert [one.words for one in receipts] == ["Approved"] * 3
    assert Decision.objects.filter(actor=ana, kind="approve").count() == 3
    for receipt in receipts:
        assert receipt.decision.payload == {"note": "Fine.", "batch": "b1"}
        assert receipt.decision.digest == receipt.review.digest
        receipt.review.run.refresh_from_db()
        assert receipt.review.run.state != RunState.AWAITING_HUMAN


def test_the_same_batch_sent_twice_has_the_same_receipts(ana, agent):
    reviews = [lookalikes.price(18.9, agent) for _ in range(3)]
    first = decide(reviews, ana, batch="b1")

    second = decide(reviews, ana, batch="b2")

    assert [one.decision for one in second] == [one.decision for one in first]
    assert Decision.objects.count() == 3


def test_other_words_on_what_is_decided_are_told_who_was_first(ana, ben, agent):
    review = lookalikes.price(18.9, agent)
    decide([review], ana, note="Fine.")

    (mine,) = decide([review], ana, kind="guide", text="Wait.")
    (others,) = decide([review], ben)

    assert mine.decision is others.decision is None
    assert others.why_not == "ana has decided already: approved."


def test_a_stale_version_a_wrong_digest_and_a_held_item_are_not_decided(
    ana, ben, agent
):
    fine, old, forged, held = [lookalikes.price(n, agent) for n in range(1, 5)]
    claims.claim(held.pk, by=ben)
    Review.objects.filter(pk=old.pk).update(version=7)
    old.version = 1
    forged.digest = "0" * 64

    receipts = decide([fine, old, forged, held], ana)

    assert [bool(one.decision) for one in receipts] == [True, False, False, False]
    assert "was version 1 and is now version 7" in receipts[1].why_not
    assert "not the one you were shown" in receipts[2].why_not
    assert receipts[3].why_not.startswith("ben holds it until ")
    assert waits(old)
    assert waits(forged)
    assert waits(held)


def test_an_item_without_version_fits_none(ana, agent):
    review = lookalikes.price(1, agent)
    item = bulk.Item.read(str(review.pk))
    assert item is not None

    (receipt,) = bulk.decide([item], by=ana, kind="approve", batch="")

    assert receipt.decision is None
    assert waits(review)


def test_a_delayed_retry_can_be_taken_back_until_its_turn(ana, agent):
    reviews = [lookalikes.stopped(n, agent) for n in range(11)]
    last = decide(reviews, ana, kind="retry", text="")[-1].review

    undo.undo(last.pk, by=ana)

    assert waits(last)
    last.run.refresh_from_db()
    assert last.run.state == RunState.AWAITING_HUMAN


# What is never decided together


def test_an_irreversible_call_is_never_approved_together(ana):
    review = factory.park()

    (receipt,) = decide([review], ana)

    assert receipt.why_not == "Its call cannot be undone: decide on it by itself."
    assert waits(review)


def test_nor_is_one_whose_arguments_make_it_irreversible(ana, agent):
    asks = {"method": "GET", "path": "/prices"}
    reads = lookalikes.parked(lookalikes.SHOP, asks, agent)
    writes = lookalikes.parked(lookalikes.SHOP, asks | {"method": "PUT"}, agent)
    proposal = writes.proposal | {"effect": "read"}  # as if it were stored wrongly
    Review.objects.filter(pk=writes.pk).update(proposal=proposal)

    done, kept = decide([reads, writes], ana)

    assert done.decision is not None
    assert "cannot be undone" in kept.why_not


def test_a_tool_that_is_gone_counts_as_irreversible(ana, agent):
    review = lookalikes.price(1, agent)
    Review.objects.update(proposal=review.proposal | {"tool": "gone"})

    (receipt,) = decide([review], ana)

    assert "cannot be undone" in receipt.why_not


def test_an_irreversible_call_may_be_turned_down_together(ana):
    reviews = [factory.park() for _ in range(3)]

    receipts = decide(reviews, ana, kind="reject", text="Not today.")

    assert [one.words for one in receipts] == ["Rejected"] * 3


def test_a_failed_irreversible_call_is_not_made_again_together(ana):
    failed = factory.park(reason=ParkReason.FATAL)
    unchecked = factory.park(reason=ParkReason.CHECK_FAILED)

    kept, checked_again = decide([failed, unchecked], ana, kind="retry", text="")

    assert "cannot be undone" in kept.why_not
    assert checked_again.decision is not None


@pytest.mark.parametrize(
    ("reason", "why_not"),
    [
        (ParkReason.QUESTION, "It needs an answer of its own."),
        (ParkReason.BUDGET, "It needs new limits of its own."),
        (ParkReason.OUTCOME_UNKNOWN, "Somebody has to say what happened."),
        (ParkReason.RETRIES, "Of another kind (retries used up)."),
    ],
)
def test_what_needs_a_form_or_another_decision_is_left_out(ana, reason, why_not):
    review = factory.park(reason=reason, has_call=False)

    (receipt,) = decide([review], ana)

    assert receipt.why_not == why_not
    assert waits(review)


def test_what_changed_since_it_was_shown_is_read_by_itself(ana, agent):
    back = lookalikes.price(1, agent, reason=ParkReason.CHANGED)
    review = lookalikes.price(2, agent)
    Review.objects.filter(pk=review.pk).update(detail={"changed": ["settings"]})

    receipts = decide([back, review], ana)

    assert [one.why_not for one in receipts] == [
        "It changed since it was first shown: read it by itself."
    ] * 2


def test_drift_found_while_deciding_leaves_the_item_open_and_anew(ana, agent):
    review = lookalikes.price(1, agent)
    Tool.objects.update_or_create(
        name=lookalikes.PRICE.name, defaults={"threshold": "0.95"}
    )
    policy.forget()

    (receipt,) = decide([review], ana)

    assert "Changed since this was shown" in receipt.why_not
    assert waits(review)
    assert review.version == 2


def test_ones_own_run_is_for_somebody_else(ana, agent):
    review = lookalikes.price(1, agent, by=ana)

    (receipt,) = decide([review], ana)

    assert receipt.why_not.startswith("You asked for this run")


def test_an_item_of_another_group_has_no_receipt_at_all(ana, agent):
    agent.deciders.set([factory.Group.objects.create(name="pricing")])
    review = lookalikes.price(1, agent)

    assert decide([review], ana) == []
    assert waits(review)


@pytest.mark.parametrize("kind", ["edit", "answer", "outcome", "top_up", "nonsense"])
def test_a_decision_with_a_form_of_its_own_is_refused(ana, agent, kind):
    review = lookalikes.price(1, agent)

    with pytest.raises(BadInput):
        decide([review], ana, kind=kind)

    assert waits(review)


@pytest.mark.parametrize("kind", ["reject", "guide", "abort"])
def test_missing_words_are_asked_for_before_anything_is_decided(ana, agent, kind):
    reviews = [lookalikes.price(n, agent) for n in range(2)]

    with pytest.raises(BadInput) as refused:
        decide(reviews, ana, kind=kind, text=" ")

    assert "text" in refused.value.fields
    assert Decision.objects.count() == 0


def test_none_and_too_many_are_refused_whole(ana, agent):
    item = bulk.Item.of(lookalikes.price(1, agent))

    for items in ([], [item] * (bulk.MOST + 1)):
        with pytest.raises(BadInput):
            bulk.decide(items, by=ana, kind="approve", batch="")

    assert Decision.objects.count() == 0


# After an outage


def test_retried_runs_go_on_ten_a_second(ana, agent):
    reviews = [lookalikes.stopped(n, agent) for n in range(23)]

    receipts = decide(reviews, ana, kind="retry", text="")

    delays = [
        (one.decision.effective_at - one.decision.decided_at) / timedelta(seconds=1)
        for one in receipts
    ]
    assert delays == [0.0] * 10 + [1.0] * 10 + [2.0] * 3
    for receipt in receipts:
        run = Run.objects.get(pk=receipt.review.run_id)
        assert run.wake_at == receipt.decision.effective_at


def test_what_is_not_retried_takes_nobodys_turn(ana, ben, agent):
    reviews = [lookalikes.stopped(n, agent) for n in range(11)]
    claims.claim(reviews[0].pk, by=ben)

    receipts = decide(reviews, ana, kind="retry", text="")

    last = receipts[-1].decision
    assert last.effective_at == last.decided_at


# How long it takes


def test_what_is_not_reached_in_time_stays_as_it_was(ana, agent, monkeypatch):
    reviews = [lookalikes.price(n, agent) for n in range(2)]
    monkeypatch.setattr(bulk, "TIME_S", -1.0)

    receipts = decide(reviews, ana)

    assert why_nots(receipts) == ["Not reached in time."] * 2
    assert all(waits(review) for review in reviews)


def test_fifty_items_are_done_in_the_time_of_one_request(ana, agent):
    reviews = [lookalikes.price(n, agent) for n in range(bulk.MOST)]

    receipts = decide(reviews, ana)

    assert why_nots(receipts) == [""] * bulk.MOST


# How a form carries an item


@pytest.mark.parametrize("text", ["", "x", "::", "1:2:3", "\x00", "not-a-uuid:1:"])
def test_nonsense_is_no_item(text):
    assert bulk.Item.read(text) is None


def test_an_item_comes_back_as_it_was_sent(agent):
    item = bulk.Item.of(lookalikes.price(1, agent))

    assert bulk.Item.read(item.text) == item


def test_a_version_that_is_no_number_fits_nothing(agent):
    review = lookalikes.price(1, agent)

    item = bulk.Item.read(f"{review.pk}:²:{review.digest}")

    assert item is None or item.version == 0


def test_a_single_decision_says_nothing_of_a_batch(ana, agent):
    review = lookalikes.price(1, agent)

    decision = services.decide(
        review.pk, by=ana, kind="approve", item_version=1, digest=review.digest
    )

    assert decision.payload == {"note": ""}
    assert clock.now() >= decision.effective_at
