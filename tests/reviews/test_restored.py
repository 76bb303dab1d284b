"""After a restore nothing irreversible is done on the word of an older ledger."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agentops import clock
from reviews.management.commands import restored as command
from reviews.models import Review
from reviews.restored import mark_all
from reviews.services import decide
from reviews.stale import StaleReview
from runs import forking
from runs.models import Driver, Effect
from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import _test_tools, agent, boss, make_agent, run  # noqa: F401
from tests.flows.conftest import decide as decide_run
from tests.support import acts, factory
from tests.support.advance import advance, park_of, provider, release, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

V = VerdictKind
POST = calls(("post", {"what": "x"}))
TRACED = calls(("register", {"what": "x"}))


@pytest.fixture
def about_to_post(run):  # noqa: F811
    """Checked and let through: the next thing is the act."""
    with provider(POST, check(0.9)):
        advance(run, steps=2)
    release(run)
    return run


def test_a_call_that_was_about_to_run_asks_whether_it_has(about_to_post):
    mark_all()

    parked = settle(about_to_post)

    assert (parked.park_reason, acts.acts()) == ("outcome_unknown", [])
    assert "when the backup was taken" in park_of(parked)["question"]
    assert Review.objects.open().get().run == parked


@pytest.mark.parametrize(("happened", "posted"), [(True, 0), (False, 1)])
def test_a_person_says_what_happened_since(about_to_post, boss, happened, posted):  # noqa: F811
    mark_all()
    settle(about_to_post)

    decide_run(about_to_post, boss, V.OUTCOME, happened=happened, result="sent")
    with provider(text("Done.")):
        done = settle(about_to_post)

    assert (done.state, len(acts.acts())) == ("completed", posted)
    assert Effect.objects.get().status == "done"


def test_a_tool_that_can_tell_is_asked_first(run):  # noqa: F811
    with provider(TRACED, check(0.9), text("Done.")):
        advance(run, steps=2)
        release(run)
        key = run.steps.get(number=3).request["key"]
        acts.write("register", "x", key)  # after the backup
        mark_all()
        done = settle(run)

    assert (done.state, len(acts.acts())) == ("completed", 1)


def test_every_later_act_asks_whatever_the_score(run):  # noqa: F811
    mark_all()
    with provider(POST):
        parked = settle(run)

    assert (parked.park_reason, acts.acts()) == ("restored", [])
    assert "since it was taken" in park_of(parked)["question"]


@pytest.mark.parametrize(
    ("kind", "more", "posted"), [(V.APPROVE, {}, 1), (V.SUPPLY, {"result": "sent"}, 0)]
)
def test_it_is_approved_or_recorded_as_done(run, boss, kind, more, posted):  # noqa: F811
    mark_all()
    with provider(POST, text("Done.")):
        settle(run)
        decide_run(run, boss, kind, **more)
        done = settle(run)

    assert (done.state, len(acts.acts())) == ("completed", posted)


def test_what_only_reads_goes_on(run):  # noqa: F811
    mark_all()
    with provider(calls(("echo", {"text": "a"})), text("Done.")):
        done = settle(run)

    assert done.state == "completed"


def test_a_fork_asks_as_its_original_does(run, boss):  # noqa: F811
    with provider(text("Done.")):
        advance(run, steps=0)
        release(run)
        mark_all()
        settle(run)

    fork = forking.fork(run.pk, 1, by=boss)
    with provider(POST):
        parked = settle(fork)

    assert parked.park_reason == "restored"


def test_an_item_says_so_and_what_was_opened_before_is_stale():
    review = factory.park()
    operator = factory.make_user("ana", "operators")

    mark_all()
    mark_all()

    fresh = Review.objects.get(pk=review.pk)
    assert fresh.question.count("A backup was restored") == 1
    assert fresh.question.endswith(review.question)
    with pytest.raises(StaleReview):
        decide(
            review.pk,
            by=operator,
            kind="approve",
            item_version=review.version,
            digest=review.digest,
        )


def test_a_run_that_began_after_it_does_not_ask(agent, boss):  # noqa: F811
    mark_all()
    later = start(agent=agent, by=boss, task="Post a letter")
    with provider(POST, check(0.9), text("Done.")):
        done = settle(later)

    assert (done.state, len(acts.acts())) == ("completed", 1)


def test_runs_that_have_ended_stay_as_they_are(run):  # noqa: F811
    with provider(text("Done.")):
        settle(run)

    mark_all()

    run.refresh_from_db()
    assert run.restored_at is None


# ---- the command


def _driver(**fields):
    now = clock.now()
    values = {"owner": "a:1:b", "host": "a", "slot": 1, "pid": 1, "started_at": now}
    return Driver.objects.create(**values | {"beat_at": now} | fields)


def test_it_refuses_while_a_worker_beats(monkeypatch):
    _driver()
    monkeypatch.setattr(command, "SILENCE_S", 0.0)

    with pytest.raises(CommandError, match="Stop it first"):
        call_command("restored")


def test_it_ends_the_drivers_that_the_backup_knows(run, advance_clock):  # noqa: F811
    _driver()
    advance_clock(60)
    said = StringIO()

    call_command("restored", stdout=said)

    assert Driver.objects.get().ended_at is not None
    assert "the backup was taken: 1." in said.getvalue()
