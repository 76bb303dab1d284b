"""Taking a decision back: how long, by whom, and what it leaves behind."""

from __future__ import annotations

import pytest

from reviews import services, undo
from reviews.models import Decision, Notification, Review
from reviews.stale import StaleReview
from runs import services as run_services
from runs.errors import NotPermitted
from runs.models import Step, Tool
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def window(configured):
    configured(undo_irreversible_s=5.0)


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


def seconds(decision):
    return (decision.effective_at - decision.decided_at).total_seconds()


# ---- the window


@pytest.mark.parametrize("kind", ["approve", "edit"])
def test_an_irreversible_call_waits_for_five_seconds(review, ana, kind):
    more = {"arguments": factory.MAIL} if kind == "edit" else {}
    decision = decide(review, ana, kind, **more)

    review.run.refresh_from_db()
    assert seconds(decision) == 5
    assert review.run.wake_at == decision.effective_at


def test_the_tool_has_a_window_of_its_own(review, ana):
    Tool.objects.create(name="post_letter", undo_s=30)

    assert seconds(decide(review, ana)) == 30


def test_a_window_of_nought_is_none(review, ana):
    Tool.objects.create(name="post_letter", undo_s=0)

    assert seconds(decide(review, ana)) == 0


def test_what_can_be_repaired_waits_as_long_as_the_product_says(ana, configured):
    configured(undo_s=2.0)
    run = factory.make_run()
    review = factory.park(run, call=factory.make_call(run, effect="read"))

    assert seconds(decide(review, ana)) == 2


def test_what_an_approval_allowed_waits_though_another_decision_was_needed(ana, ben):
    run = factory.make_run(limits={"steps": 1}, steps_used=1)
    approval = decide(factory.park(run), ana)
    budget = Review.objects.open().get(run=run)

    topped_up = decide(budget, ben, "top_up", **{"limits.steps": "9"})

    run.refresh_from_db()
    assert seconds(topped_up) == 0
    assert run.wake_at == approval.effective_at


@pytest.mark.parametrize(("kind", "text"), [("reject", "No."), ("guide", "Wait.")])
def test_what_makes_no_call_takes_effect_at_once(review, ana, kind, text):
    assert seconds(decide(review, ana, kind, text=text)) == 0


def test_an_accepted_answer_takes_effect_at_once(ana, configured):
    configured(undo_s=9.0)
    review = factory.park(reason=ParkReason.ANSWER, has_call=False)

    assert seconds(decide(review, ana)) == 0


# ---- taking back


def test_the_same_item_is_open_again_and_both_rows_stay(review, ana):
    decision = decide(review, ana, note="Fine.")
    decision = Decision.objects.get(pk=decision.pk)

    again = undo.undo(review.pk, by=ana)

    decision.refresh_from_db()
    run = again.run
    assert decision.undone_at is not None
    assert (again.status, again.closed_at) == ("open", None)
    assert again.version == review.version + 2
    assert again.sequence == run.sequence == review.sequence + 3
    assert again.holder == ana
    assert again.holder_until is not None
    assert run.state == "awaiting_human"
    assert Review.objects.count() == 1
    assert Step.objects.filter(run=run).count() == run.sequence


def test_nobody_is_told_of_a_new_item(review, ana):
    before = Notification.objects.count()
    decide(review, ana)

    undo.undo(review.pk, by=ana)

    assert Notification.objects.count() == before


def test_it_can_be_decided_again_and_taken_back_again(review, ana):
    for _ in range(2):
        decide(review, ana)
        review = undo.undo(review.pk, by=ana)

    decision = decide(review, ana, "reject", text="No.")

    assert Decision.objects.filter(undone_at=None).get() == decision
    assert Decision.objects.count() == 3


def test_only_who_decided_takes_it_back(review, ana, ben):
    decide(review, ana)

    with pytest.raises(NotPermitted, match="Only the person who decided"):
        undo.undo(review.pk, by=ben)


def test_who_may_not_decide_any_more_takes_nothing_back(review, ana):
    decide(review, ana)
    ana.groups.clear()
    ana = type(ana).objects.get(pk=ana.pk)

    with pytest.raises(NotPermitted):
        undo.undo(review.pk, by=ana)


def test_it_is_too_late_once_the_window_is_over(review, ana, advance_clock):
    decision = decide(review, ana)
    advance_clock(5.01)

    with pytest.raises(StaleReview, match="Too late: it has begun") as caught:
        undo.undo(review.pk, by=ana)

    assert caught.value.decision == decision
    assert Decision.objects.get().undone_at is None


def test_it_cannot_be_taken_back_twice(review, ana):
    decision = decide(review, ana)
    undo.undo(review.pk, by=ana)

    with pytest.raises(StaleReview, match="taken back already"):
        undo.undo(review.pk, by=ana)

    decide(Review.objects.get(), ana)
    with pytest.raises(StaleReview, match="taken back already"):
        undo.undo(review.pk, by=ana, decision_id=decision.pk)


def test_what_took_effect_at_once_cannot_be_taken_back(review, ana):
    decide(review, ana, "reject", text="No.")

    with pytest.raises(StaleReview, match="took effect at once"):
        undo.undo(review.pk, by=ana)


def test_an_aborted_run_is_not_brought_back(review, ana):
    decide(review, ana)
    run_services.cancel(review.run_id, by=review.run.submitter, reason="Not needed.")

    with pytest.raises(StaleReview, match="the run is aborted"):
        undo.undo(review.pk, by=ana)

    review.refresh_from_db()
    assert (review.status, Decision.objects.get().undone_at) == ("decided", None)


# ---- over HTTP


def post(client, review, decision):
    address = f"/reviews/{review.pk}/undo/"
    return client.post(address, {"decision": decision.pk})


def test_the_page_offers_it_to_who_decided_only(client, review, ana, ben):
    decide(review, ana)

    client.force_login(ana)
    assert b'data-key="z"' in client.get(f"/reviews/{review.pk}/").content
    client.force_login(ben)
    assert b'data-key="z"' not in client.get(f"/reviews/{review.pk}/").content


def test_a_post_takes_it_back_and_shows_the_item(client, review, ana):
    client.force_login(ana)

    answer = post(client, review, decide(review, ana))

    assert answer.status_code == 302
    assert Review.objects.get().status == "open"
    page = client.get(answer.headers["Location"])
    assert "Taken back" in page.content.decode()


def test_a_post_that_comes_too_late_is_told_so(client, review, ana, advance_clock):
    client.force_login(ana)
    decision = decide(review, ana)
    advance_clock(6)

    answer = post(client, review, decision)

    assert answer.status_code == 409
    assert "Too late" in answer.content.decode()


def test_a_post_of_somebody_else_is_refused(client, review, ana, ben):
    client.force_login(ben)

    assert post(client, review, decide(review, ana)).status_code == 403


def test_opening_the_address_takes_nothing_back(client, review, ana):
    client.force_login(ana)
    decide(review, ana)

    assert client.get(f"/reviews/{review.pk}/undo/").status_code == 405
    assert Review.objects.get().status == "decided"


# ---- what was typed


def test_the_words_of_an_approval_are_there_again_after_an_undo(client, review, ana):
    decide(review, ana, note="Confirmed by sales.")
    client.force_login(ana)

    undo.undo(review.pk, by=ana)
    page = client.get(f"/reviews/{review.pk}/")

    form = next(s.form for s in page.context["sheets"] if s.name == "approve")
    assert form["note"].value() == "Confirmed by sales."
    assert b"The item has changed since" not in page.content


def test_an_edit_is_there_again_after_an_undo(client, review, ana):
    changed = factory.MAIL | {"subject": "Another"}
    decide(review, ana, "edit", arguments=changed, note="Shorter.")
    client.force_login(ana)

    undo.undo(review.pk, by=ana)
    page = client.get(f"/reviews/{review.pk}/")

    form = next(s.form for s in page.context["sheets"] if s.name == "edit")
    assert form["arguments.subject"].value() == "Another"
    assert form["note"].value() == "Shorter."
    assert set(form.initial) == {"arguments.subject", "note"}


def test_a_kind_that_is_gone_since_is_taken_back_all_the_same(review, ana):
    decision = decide(review, ana)
    Decision.objects.update(kind="of_a_plug_in")

    undo.undo(review.pk, by=ana, decision_id=decision.pk)

    decision.refresh_from_db()
    review.refresh_from_db()
    assert decision.undone_at is not None
    assert (review.status, review.run.state) == ("open", "awaiting_human")


def test_what_is_too_long_for_a_draft_is_undone_all_the_same(review, ana, monkeypatch):
    decide(review, ana, note="Confirmed.")
    monkeypatch.setattr("reviews.drafts.MOST_BYTES", 10)

    assert undo.undo(review.pk, by=ana).status == "open"
