"""What nobody answers in time: an outcome of its own, and never an approval."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils.module_loading import import_string

from agentops import clock
from reviews import expiring, receivers, services, tasks
from reviews.models import Decision, Note, Notification, Profile, Review
from reviews.models.review import Risk
from reviews.stale import StaleReview
from runs import services as run_services
from runs import timers
from runs.errors import BadInput, NotPermitted
from runs.models import Effect, Step, Tool
from runs.states import ParkReason
from tests.reviews.told import delivered
from tests.support import factory

pytestmark = pytest.mark.django_db

AN_HOUR = 3600


@pytest.fixture(autouse=True)
def limits(configured):
    configured(review_expires_s=AN_HOUR, review_expires_high_risk_s=AN_HOUR)


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def review():
    return factory.park()


@pytest.fixture
def expired(review, advance_clock):
    advance_clock(AN_HOUR + 1)
    expiring.expire()
    return Review.objects.get(pk=review.pk)


def decide(review, by, kind="approve", **payload):
    return services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=payload,
    )


def lasts_s(review):
    return (review.expires_at - review.opened_at).total_seconds()


# ---- deadlines


def test_by_default_nothing_expires(configured):
    configured(review_expires_s=0.0, review_expires_high_risk_s=0.0)

    assert factory.park().expires_at is None


def test_the_risk_says_how_long_an_item_lasts(configured):
    configured(review_expires_s=7200, review_expires_high_risk_s=60)
    risky = factory.park(reason=ParkReason.UNTRUSTED_CONTENT)
    plain = factory.park(reason=ParkReason.QUESTION, has_call=False)

    assert (risky.risk, lasts_s(risky)) == (Risk.HIGH, 60)
    assert lasts_s(plain) == 7200


def test_the_tool_has_deadlines_of_its_own():
    Tool.objects.create(name="post_letter", due_s=30, expires_s=90)

    review = factory.park()

    assert lasts_s(review) == 90
    assert review.due_at - review.opened_at == timedelta(seconds=30)


def test_a_tool_whose_items_never_expire_says_nought():
    Tool.objects.create(name="post_letter", expires_s=0)

    assert factory.park().expires_at is None


def test_what_expires_is_due_before_that(review):
    assert review.due_at <= review.expires_at


# ---- expiring


def test_nothing_expires_before_its_time(review):
    assert not expiring.is_due()
    assert expiring.expire() == {"expired": 0}


def test_a_driver_looks_whether_something_expires():
    assert import_string(expiring.EXPIRE) is expiring.expire
    assert timers._timers[expiring.EXPIRE] is expiring.is_due


def test_an_item_expires_in_nobodys_name(review, advance_clock):
    advance_clock(AN_HOUR + 1)
    assert expiring.is_due()

    assert expiring.expire() == {"expired": 1}

    before = review.version
    review.refresh_from_db()
    assert (review.status, review.holder) == ("expired", None)
    assert review.version == before + 1
    assert review.closed_at is not None
    assert review.run.state == "awaiting_human"
    assert not Decision.objects.exists()
    assert not Effect.objects.exists()
    assert not expiring.is_due()


def test_the_page_of_the_run_says_that_nobody_answered(client, expired, ana):
    client.force_login(ana)

    page = client.get(f"/runs/{expired.run_id}/").content.decode()

    assert "Nobody answered in time" in page
    assert "being put into the inbox" not in page
    assert f'href="/reviews/{expired.pk}/">Read and decide' in page


def test_no_other_item_opens_for_its_run(expired, advance_clock):
    advance_clock(60)

    assert tasks.sweep() == {"opened": 0}
    assert receivers.open_review(expired.run, expired.run.park, expired.closed_at) == (
        expired
    )
    assert Review.objects.count() == 1


def test_h13_a_decision_that_comes_too_late_is_refused(review, ana, advance_clock):
    """Even where the timer has not closed it yet."""
    advance_clock(AN_HOUR + 1)

    with pytest.raises(StaleReview, match=r"expired: nobody answered by \d\d:\d\d"):
        decide(review, ana)

    assert not Decision.objects.exists()


@pytest.mark.parametrize("kind", ["approve", "edit", "reject", "guide"])
def test_nothing_else_is_decided_about_an_expired_item(expired, ana, kind):
    with pytest.raises(StaleReview, match="nobody answered"):
        decide(expired, ana, kind, text="Go.", arguments=factory.MAIL)


def test_an_item_that_waits_is_not_gone_on_from(review, ana):
    with pytest.raises(BadInput):
        decide(review, ana, "go_on")


# ---- what a person does then


def test_going_on_tells_the_agent_that_nobody_answered(expired, ana):
    decision = decide(expired, ana, "go_on")

    expired.refresh_from_db()
    step = Step.objects.get(run=expired.run, kind="decision")
    assert (decision.kind, expired.status) == ("go_on", "decided")
    assert step.name == "go_on"
    assert expired.run.state == "observing"
    assert not Step.objects.filter(run=expired.run, kind="tool").exists()


def test_an_expired_run_can_be_aborted(expired, ana):
    decide(expired, ana, "abort", text="Not needed.")

    expired.run.refresh_from_db()
    assert expired.run.state == "aborted"


def test_asking_again_opens_the_same_item_with_new_deadlines(expired, ana):
    again = expiring.ask_again(expired.pk, by=ana)

    assert (again.pk, again.status, again.closed_at) == (expired.pk, "open", None)
    assert again.version == expired.version + 1
    assert again.expires_at > expired.expires_at + timedelta(seconds=AN_HOUR - 1)
    assert again.due_at > expired.due_at
    note = Note.objects.get()
    assert (note.author, note.kind) == (ana, "asked_again")
    assert "nobody answered" in note.text
    decide(again, ana)
    assert Decision.objects.get().kind == "approve"


def test_who_may_decide_is_told_once_more(ana, advance_clock):
    review = factory.park()
    advance_clock(AN_HOUR + 1)
    expiring.expire()
    Notification.objects.update(status="sent")

    expiring.ask_again(review.pk, by=ana)

    told = Notification.objects.get(review=review, event="opened", person=ana)
    assert (told.status, told.attempts) == ("pending", 0)


def test_only_who_may_decide_asks_again(expired):
    with pytest.raises(NotPermitted):
        expiring.ask_again(expired.pk, by=factory.make_user("carl", "submitters"))


def test_an_open_item_is_not_asked_again(review, ana):
    with pytest.raises(StaleReview):
        expiring.ask_again(review.pk, by=ana)


def test_a_cancelled_run_is_not_asked_again(expired, ana):
    run = expired.run
    run_services.cancel(run.pk, by=run.submitter, reason="Not needed.")

    with pytest.raises(StaleReview):
        expiring.ask_again(expired.pk, by=ana)


# ---- who asked for the run


@pytest.fixture
def asked():
    """An item about a run of sue, who is told by mail that it waits."""
    sue = factory.make_user("sue", "submitters")
    review = factory.park(factory.make_run(by=sue))
    delivered("sue")
    return review


def test_who_asked_is_told_that_nobody_answered(asked, advance_clock):
    advance_clock(AN_HOUR + 1)
    expiring.expire()

    assert delivered("sue") == [f"{asked.agent.name}: nobody answered your run in time"]
    text = mail.outbox[-1].body
    assert "asks again" in text
    assert f"/runs/{asked.run_id}/" in text
    assert "/reviews/" not in text
    assert delivered("sue") == []


def test_who_asked_is_told_each_time_that_it_expires(asked, ana, advance_clock):
    for _ in range(2):
        advance_clock(AN_HOUR + 1)
        expiring.expire()
        assert len(delivered("sue")) == 1
        expiring.ask_again(asked.pk, by=ana)


@pytest.mark.parametrize("then", ["asked again", "decided", "aborted"])
def test_who_asked_hears_no_more_of_what_is_over(asked, ana, advance_clock, then):
    advance_clock(AN_HOUR + 1)
    expiring.expire()

    if then == "asked again":
        expiring.ask_again(asked.pk, by=ana)
    elif then == "decided":
        decide(Review.objects.get(pk=asked.pk), ana, "go_on")
    else:
        run_services.cancel(asked.run_id, by=ana, reason="Not needed.")

    assert not any("in time" in subject for subject in delivered("sue"))


def test_who_asked_is_told_by_their_own_settings(asked, advance_clock):
    sue = asked.run.submitter
    Profile.objects.create(person=sue, muted_until=clock.later(3 * AN_HOUR))

    advance_clock(AN_HOUR + 1)
    expiring.expire()

    assert delivered("sue") == []
    advance_clock(2 * AN_HOUR)
    assert len(delivered("sue")) == 1


def test_who_asked_and_may_decide_is_told_once(ana, advance_clock):
    agent = factory.make_agent(allow_self_decision=True)
    factory.park(factory.make_run(agent, by=ana), reason=ParkReason.OUTCOME_UNKNOWN)
    delivered("ana")

    advance_clock(AN_HOUR + 1)
    expiring.expire()
    advance_clock(60)

    (subject,) = delivered("ana")
    assert subject.startswith("Expired, nobody has decided")


# ---- pages


def page(client, review):
    return client.get(f"/reviews/{review.pk}/").content.decode()


def test_the_page_says_until_when_one_can_answer(client, review, ana):
    client.force_login(ana)

    assert "then nothing is sent" in page(client, review)


def test_a_page_says_the_same_of_it_once_it_is_claimed(client, review, ana):
    client.force_login(ana)
    address = f"/reviews/{review.pk}/hold/"

    part = client.post(address, {"act": "claim"}, headers={"HX-Request": "true"})

    assert "You hold this" in part.content.decode()
    assert "then nothing is sent" in part.content.decode()


def test_an_expired_item_offers_three_ways_to_go_on(client, expired, ana):
    client.force_login(ana)

    shown = page(client, expired)

    assert "nobody answered" in shown
    assert "Ask again" in shown
    assert "Go on without an answer" in shown
    assert "Abort the run" in shown
    assert "Approve and post" not in shown


def test_three_ways_to_end_have_three_names(client, expired, ana):
    rejected, cancelled = factory.park(), factory.park()
    decide(rejected, ana, "reject", text="No.")
    run_services.cancel(
        cancelled.run_id, by=cancelled.run.submitter, reason="Not needed."
    )
    client.force_login(ana)

    shown = client.get("/reviews/?view=decided").content.decode()

    for words in ("Expired, nobody answered", "Rejected", "Cancelled"):
        assert words in shown


def test_asking_again_over_http(client, expired, ana):
    client.force_login(ana)

    assert client.post(f"/reviews/{expired.pk}/again/").status_code == 302
    assert client.post(f"/reviews/{expired.pk}/again/").status_code == 409
    assert client.get(f"/reviews/{expired.pk}/again/").status_code == 405
