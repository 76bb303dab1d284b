"""Deciding: who may, on what exactly, and what happens to those who come second."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group

from agentops import clock
from reviews import claims, services
from reviews.models import Decision, Review
from reviews.stale import StaleReview
from runs import policy
from runs.errors import BadInput, NotPermitted
from runs.models import Step, Tool
from runs.states import ParkReason, RunState
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_policy():
    """What an earlier test set is read anew."""
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


def decide(review, by, kind="approve", seen=None, **payload):
    """As somebody decides who has just looked at the item, or has `seen` another."""
    seen = {"item_version": review.version, "digest": review.digest} | (seen or {})
    return services.decide(review.pk, by=by, kind=kind, payload=payload, **seen)


def test_a_decision_closes_the_review_and_puts_the_run_back(review, ana):
    decision = decide(review, ana, note="Fine.")

    review.refresh_from_db()
    review.run.refresh_from_db()
    assert (review.status, review.closed_at) == ("decided", decision.decided_at)
    assert review.run.state != RunState.AWAITING_HUMAN
    assert (decision.kind, decision.note, decision.actor) == ("approve", "Fine.", ana)
    assert decision.digest == review.digest
    assert decision.item_version == 1


def test_the_run_gets_a_step_of_kind_decision(review, ana):
    decide(review, ana, note="Fine.")

    step = Step.objects.get(run=review.run, kind="decision")
    assert step.name == "approve"
    assert (step.response or {})["note"] == "Fine."


def test_an_edit_runs_with_the_new_arguments_and_a_digest_of_its_own(review, ana):
    arguments = factory.MAIL | {"subject": "Corrected"}

    decision = decide(review, ana, "edit", arguments=arguments)

    assert decision.payload["arguments"]["subject"] == "Corrected"
    assert decision.digest not in {"", review.digest}


def test_an_invalid_edit_keeps_the_item_open(review, ana):
    with pytest.raises(BadInput):
        decide(review, ana, "edit", arguments=factory.MAIL | {"copies": "many"})

    review.refresh_from_db()
    assert review.status == "open"
    assert Decision.objects.count() == 0


def test_abort_ends_the_run(review, ana):
    decide(review, ana, "abort", text="Not needed.")

    review.run.refresh_from_db()
    assert review.run.state == RunState.ABORTED


def test_a_reason_is_needed_for_abort_and_reject(review, ana):
    for kind in ("abort", "reject"):
        with pytest.raises(BadInput) as caught:
            decide(review, ana, kind, text="  ")
        assert "text" in caught.value.fields


def test_a_kind_that_is_not_offered_is_refused(review, ana):
    with pytest.raises(BadInput):
        decide(review, ana, "top_up", money="9")


def test_an_unknown_kind_is_refused(review, ana):
    with pytest.raises(BadInput):
        decide(review, ana, "bless")


# Who may


def test_a_person_without_the_right_is_refused(review):
    with pytest.raises(NotPermitted):
        decide(review, factory.make_user("eve", "submitters"))


def test_the_submitter_does_not_decide_their_own_run(ana):
    review = factory.park(factory.make_run(by=ana))

    with pytest.raises(NotPermitted, match="somebody else"):
        decide(review, ana)


def test_the_submitter_decides_where_the_agent_allows_it(ana):
    agent = factory.make_agent(allow_self_decision=True)
    review = factory.park(factory.make_run(agent, by=ana))

    assert decide(review, ana).actor == ana


def test_the_submitter_decides_where_the_installation_allows_it(ana, configured):
    configured(allow_self_decision=True)
    review = factory.park(factory.make_run(by=ana))

    assert decide(review, ana).actor == ana


def test_only_the_deciders_of_the_agent_decide(ana, ben):
    agent = factory.make_agent()
    group = Group.objects.create(name="finance")
    agent.deciders.add(group)
    ben.groups.add(group)
    review = factory.park(factory.make_run(agent))

    with pytest.raises(NotPermitted):
        decide(review, ana)
    assert decide(review, ben).actor == ben


def test_an_inactive_person_does_not_decide(review, ana):
    ana.is_active = False

    with pytest.raises(NotPermitted):
        decide(review, ana)


# On what exactly


def test_another_version_is_stale(review, ana):
    with pytest.raises(StaleReview, match="version 7"):
        decide(review, ana, seen={"item_version": 7})


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_an_approval_names_the_call_it_saw(review, ana, digest):
    with pytest.raises(StaleReview):
        decide(review, ana, seen={"digest": digest})


REPEATS = [
    (ParkReason.RETRIES, "retry", {}),
    (ParkReason.FATAL, "retry", {}),
    (ParkReason.OUTCOME_UNKNOWN, "outcome", {"happened": "no"}),
]
"""Decisions by which a call that was tried is made again."""


@pytest.mark.parametrize("digest", ["", "0" * 64])
@pytest.mark.parametrize(("reason", "kind", "sent"), REPEATS)
def test_a_call_that_is_made_again_is_the_one_that_was_seen(
    ana, reason, kind, sent, digest
):
    review = factory.park(reason=reason)

    with pytest.raises(StaleReview, match="not the one you were shown"):
        decide(review, ana, kind, {"digest": digest}, **sent)


@pytest.mark.parametrize(("reason", "kind", "sent"), REPEATS)
def test_a_call_that_is_made_again_is_shown_anew_if_it_would_run_otherwise(
    ana, reason, kind, sent
):
    review = factory.park(reason=reason)
    Tool.objects.create(name="post_letter", policy="always")
    policy.forget()

    with pytest.raises(StaleReview, match="Changed since this was shown: policy"):
        decide(review, ana, kind, **sent)

    review.refresh_from_db()
    assert (review.status, review.version) == ("open", 2)
    assert decide(review, ana, kind, **sent).item_version == 2


@pytest.mark.parametrize(("reason", "kind", "sent"), REPEATS)
def test_what_cannot_be_made_again_can_be_told_of(ana, reason, kind, sent):
    review = factory.park(reason=reason)
    Tool.objects.create(name="post_letter", enabled=False)
    policy.forget()

    assert decide(review, ana, kind, **sent).kind == kind


def test_what_has_happened_may_be_said_under_other_rules(ana):
    review = factory.park(reason=ParkReason.OUTCOME_UNKNOWN)
    Tool.objects.create(name="post_letter", policy="always")
    policy.forget()

    assert decide(review, ana, "outcome", happened="yes").kind == "outcome"


def test_a_step_that_was_no_call_is_tried_again(ana):
    review = factory.park(reason=ParkReason.FATAL, has_call=False)

    assert decide(review, ana, "retry").digest == ""


def test_a_rejection_may_leave_the_digest_out(review, ana):
    assert decide(review, ana, "reject", {"digest": ""}, text="No.").kind == "reject"


def test_a_run_that_moved_on_is_stale_and_nothing_is_written(review, ana):
    Review.objects.filter(pk=review.pk).update(sequence=99)

    with pytest.raises(StaleReview):
        decide(review, ana)

    review.refresh_from_db()
    assert review.status == "open"
    assert Decision.objects.count() == 0


def test_a_cancelled_review_takes_no_decision(review, ana):
    factory.change_state(review.run, RunState.ABORTED)

    with pytest.raises(StaleReview, match="cancelled") as caught:
        decide(review, ana)
    assert caught.value.decision is None


def test_a_stricter_policy_is_shown_before_it_can_be_approved(review, ana):
    Tool.objects.create(name="post_letter", policy="always")
    policy.forget()

    with pytest.raises(StaleReview, match="Changed since this was shown: policy"):
        decide(review, ana)

    review.refresh_from_db()
    assert (review.status, review.version) == ("open", 2)
    assert review.detail["changed"] == ["policy"]
    assert decide(review, ana).item_version == 2


def test_a_tool_that_was_switched_off_can_only_be_rejected(review, ana):
    Tool.objects.create(name="post_letter", enabled=False)
    policy.forget()

    with pytest.raises(StaleReview, match="may not be used"):
        decide(review, ana)
    assert decide(review, ana, "reject", text="It is off.").kind == "reject"


# Who comes second


def test_the_same_decision_again_is_the_same_decision(review, ana):
    first = decide(review, ana, note="Fine.")

    assert decide(review, ana, note="Fine.") == first
    assert Decision.objects.count() == 1


def test_the_same_person_deciding_otherwise_is_stale(review, ana):
    first = decide(review, ana, note="Fine.")

    with pytest.raises(StaleReview) as caught:
        decide(review, ana, note="On second thoughts")
    assert caught.value.decision == first


def test_another_person_is_told_who_decided(review, ana, ben):
    first = decide(review, ana)

    with pytest.raises(StaleReview, match="ana has decided") as caught:
        decide(review, ben, "reject", text="No.")
    assert caught.value.decision == first


# Holding


def test_a_held_item_is_decided_by_its_holder_only(review, ana, ben):
    claims.claim(review.pk, by=ana)

    with pytest.raises(StaleReview, match="ana is working") as caught:
        decide(review, ben)
    assert caught.value.holder == ana
    assert decide(review, ana).actor == ana


def test_the_time_taken_counts_from_the_first_view(review, ana):
    seen_at = clock.now() - timedelta(seconds=90)

    assert decide(review, ana, seen={"seen_at": seen_at}).seconds_taken in {90, 91}


def test_without_a_view_no_time_is_made_up(review, ana):
    assert decide(review, ana).seconds_taken is None


def test_the_reason_the_run_waits_for_decides_what_is_offered(ana):
    review = factory.park(reason=ParkReason.QUESTION)

    with pytest.raises(BadInput, match="cannot be decided here"):
        decide(review, ana)
