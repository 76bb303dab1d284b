"""What a person may decide, and what is refused with which words."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django_q.models import OrmQ  # noqa: TID251

from runs import deciding, policy
from runs.deciding import Changed, allowed_verdicts, edited, reseal, resume
from runs.errors import BadInput, Stale
from runs.models import Tool
from runs.states import ParkReason
from runs.values import Verdict, VerdictKind
from tests.flows.conftest import _test_tools, agent, boss, decide, run  # noqa: F401
from tests.support.advance import park_of, provider, settle
from tests.support.replies import calls, check, error, text

pytestmark = pytest.mark.django_db

V = VerdictKind
LETTER = calls(("post", {"what": "x"}))


@pytest.fixture
def parked(run):  # noqa: F811
    with provider(LETTER, check(0.2)):
        return settle(run)


def blocked(**fields):
    Tool.objects.update_or_create(name="post", defaults=fields)
    policy.forget()


@pytest.mark.parametrize("reason", ParkReason)
def test_every_park_can_be_aborted_and_decided_in_another_way(reason):
    allowed = allowed_verdicts({"reason": reason.value})

    assert V.ABORT in allowed
    assert len(allowed) > 1


@pytest.mark.parametrize(
    ("verdict", "field"),
    [
        (Verdict(V.TOP_UP, limits={"steps": 5}), ""),
        (Verdict(V.OUTCOME, happened=True), ""),
        (Verdict(V.REJECT, text=" "), "text"),
        (Verdict(V.GUIDE), "text"),
        (Verdict(V.ABORT), "text"),
        (Verdict(V.APPROVE, arguments={"where": "y"}), "arguments.where"),
    ],
)
def test_a_verdict_that_does_not_fit_changes_nothing(parked, boss, verdict, field):  # noqa: F811
    with pytest.raises(BadInput) as caught, transaction.atomic():
        resume(parked.pk, verdict, by=boss, sequence=parked.sequence)

    before = (parked.state, parked.sequence, parked.park)
    parked.refresh_from_db()
    assert field in caught.value.fields
    assert (parked.state, parked.sequence, parked.park) == before


def test_an_outcome_has_to_be_said(run, boss):  # noqa: F811
    with provider(calls(("lost", {"what": "x"})), check(0.9)):
        run = settle(run)

    with pytest.raises(BadInput) as caught:
        decide(run, boss, V.OUTCOME)

    assert set(caught.value.fields) == {"happened"}


def test_a_decision_of_another_moment_is_stale(parked, boss):  # noqa: F811
    with pytest.raises(Stale):
        resume(parked.pk, Verdict(V.APPROVE), by=boss, sequence=parked.sequence - 1)


@pytest.mark.django_db(transaction=True)
def test_a_decision_needs_the_transaction_of_its_review(parked, boss):  # noqa: F811
    assert not connection.in_atomic_block
    with pytest.raises(RuntimeError):
        resume(parked.pk, Verdict(V.APPROVE), by=boss, sequence=parked.sequence)


def test_what_has_changed_since_it_was_shown_is_named(parked, boss):  # noqa: F811
    blocked(threshold="0.99")

    with pytest.raises(Changed) as caught:
        decide(parked, boss, V.APPROVE)

    assert caught.value.parts == ("policy",)


def test_what_was_sealed_anew_can_be_approved(parked, boss):  # noqa: F811
    blocked(threshold="0.99")

    seal = reseal(parked.pk, sequence=parked.sequence)
    decide(parked, boss, V.APPROVE)

    parked.refresh_from_db()
    assert set(seal) >= {"arguments", "policy"}
    assert parked.state == "executing"


def test_a_tool_that_may_not_be_used_any_more_is_not_approved(parked, boss):  # noqa: F811
    blocked(enabled=False)

    with pytest.raises(Stale, match="may not be used"):
        decide(parked, boss, V.APPROVE)
    with pytest.raises(Stale):
        reseal(parked.pk, sequence=parked.sequence)


def test_only_a_run_that_waits_is_sealed_anew(parked, boss):  # noqa: F811
    with pytest.raises(Stale):
        reseal(parked.pk, sequence=parked.sequence + 1)


def test_an_edit_is_sealed_as_it_would_run(parked):
    call = edited(parked.pk, {"what": "y"})

    shown = park_of(parked)["call"]
    assert (call.arguments, call.title) == ({"what": "y"}, "Post a letter: y")
    assert call.id == shown["id"]
    assert call.digest != shown["digest"]
    assert call.key != shown["key"]


def test_without_a_call_there_is_nothing_to_edit(run):  # noqa: F811
    with provider(error(401)):
        run = settle(run)

    with pytest.raises(Stale):
        edited(run.pk, {"what": "y"})
    with pytest.raises(Stale):
        reseal(run.pk, sequence=run.sequence)


def test_an_abort_ends_the_run_with_its_reason_kept(parked, boss):  # noqa: F811
    decide(parked, boss, V.ABORT, text="Not wanted.")

    parked.refresh_from_db()
    assert (parked.state, parked.park, parked.wake_at) == ("aborted", None, None)
    assert parked.steps.get(kind="decision").response["text"] == "Not wanted."


def test_a_decision_plans_what_follows_and_wakes_a_driver(parked, boss):  # noqa: F811
    OrmQ.objects.all().delete()

    decide(parked, boss, V.APPROVE)

    parked.refresh_from_db()
    numbers = list(parked.steps.values_list("kind", "status"))[-2:]
    assert numbers == [("decision", "succeeded"), ("tool", "planned")]
    assert OrmQ.objects.count() == 1
    assert parked.wake_at is not None


def test_an_accepted_answer_is_delivered_by_the_driver(boss):  # noqa: F811
    from runs.services import start
    from tests.flows.conftest import make_agent

    doubtful = make_agent(check_answer=True)
    with provider(text("42"), check(0.1)):
        waiting = settle(start(agent=doubtful, by=boss, task="Ask"))
        decide(waiting, boss, V.APPROVE)
        waiting.refresh_from_db()
        state = waiting.state
        done = settle(waiting)

    assert (state, done.state, done.output) == ("completing", "completed", "42")


def test_a_verdict_that_leads_to_the_next_question_parks_again(parked, boss):  # noqa: F811
    type(parked).objects.filter(pk=parked.pk).update(limits={"steps": 2})

    decide(parked, boss, V.APPROVE)

    parked.refresh_from_db()
    moves = list(parked.transitions.values_list("to_state", flat=True))
    assert (parked.park_reason, parked.wake_at) == ("budget", None)
    assert moves[-3:] == ["awaiting_human", "executing", "awaiting_human"]
    assert deciding.allowed_verdicts(park_of(parked)) == (V.TOP_UP, V.ABORT, V.FORK)
