"""Cases N and S03: people hear of what waits, and only we speak to them."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.urls import reverse

from agentops import clock
from reviews import outbox, tasks
from reviews.models import Notification, Review, Route
from reviews.outbox import MAX_TRIES
from runs import engine
from runs.errors import InvalidCall
from runs.models import Run
from runs.services import start
from runs.states import ParkReason, RunState
from runs.tools import registry
from runs.tools.base import Effect, tool
from tests.cases.conftest import case_agent
from tests.cases.playing import play
from tests.support import factory
from tests.support.advance import OWNER, take
from tests.support.replies import call, calls, check, error

pytestmark = pytest.mark.django_db

SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


@pytest.fixture
def ana(configured):
    """Who may decide, and is told at once."""
    configured(notify_every_medium_s=0.0, notify_every_low_s=0.0)
    return factory.make_user("ana", "operators")


def told(person):
    """The mails that the person has got by now."""
    outbox.deliver()
    return [sent for sent in mail.outbox if sent.to == [person.email]]


def link(name, row):
    return "http://127.0.0.1:8000" + reverse(f"{name}:detail", args=[row.pk])


# ---- N03


@pytest.mark.parametrize("reason", list(ParkReason))
def test_n03_whatever_parks_a_run_is_told_with_a_link(ana, reason):
    with registry.added(factory.LETTER):
        review = factory.park(reason=reason)

        (sent,) = told(ana)

    assert link("reviews", review) in sent.body


BEFORE_THE_FIRST_STEP = {"fatal": [error(401)], "retries": [error(503)] * 5}


@pytest.mark.parametrize("reason", BEFORE_THE_FIRST_STEP)
def test_n03_a_run_that_fails_before_its_first_step_is_told_of(ana, run, reason):
    run, _ = play(run, *BEFORE_THE_FIRST_STEP[reason])

    (sent,) = told(ana)

    assert run.park_reason == reason
    assert link("reviews", Review.objects.get()) in sent.body


def test_n03_a_run_that_ends_its_worker_again_and_again_is_told_of(ana, run):
    take(run)
    engine.park_poison(run.pk, OWNER)

    (sent,) = told(ana)

    assert Run.objects.get().park_reason == "poison"
    assert link("reviews", Review.objects.get()) in sent.body


def test_n03_what_the_sweeper_finds_is_told_of(ana, run, advance_clock):
    play(run, error(401))
    Review.objects.all().delete()
    Notification.objects.all().delete()
    advance_clock(tasks.SWEEP_AFTER_S + 1)

    tasks.sweep()

    (sent,) = told(ana)
    assert link("reviews", Review.objects.get()) in sent.body


def test_n03_a_run_that_nobody_can_help_is_told_of(ana, boss):
    run = start(agent=case_agent(), by=boss, task="Work")
    factory.change_state(run, RunState.ERROR)

    (sent,) = told(ana)

    assert link("runs", run) in sent.body


# ---- N01


@pytest.mark.parametrize("trouble", ["answers 500", "hangs"])
def test_n01_slack_that_fails_harms_no_run_and_is_seen(
    ana, run, services, configured, client, boss, trouble
):
    Route.objects.create(person=ana, channel="slack", address=SLACK)
    services.status, services.drips = 500, trouble == "hangs"
    configured(notify_deadline_s=1.5, notify_every_medium_s=0.0)
    run, _ = play(run, calls(("post", {"what": "x"})), check(0.2))

    delivered = outbox.deliver()

    row = Notification.objects.get(channel="slack", event="opened")
    assert delivered["later"] == 1
    assert (row.status, row.attempts) == ("pending", 1)
    assert row.next_at > clock.now()
    assert Run.objects.get().state == "awaiting_human"
    assert Review.objects.get().status == "open"
    Notification.objects.filter(pk=row.pk).update(
        attempts=MAX_TRIES, next_at=clock.now()
    )
    assert outbox.deliver()["failed"] == 1
    client.force_login(boss)
    assert "1 notice" in client.get("/admin/").content.decode()


# ---- S03

HOSTILE = (
    "<!channel> <https://evil.example|Approve here> [Approve](https://evil.example)"
    " <script>alert(1)</script><img src=x onerror=alert(1)>"
    " [x](javascript:alert(1)) <a href='javascript:alert(1)'>x</a>"
)
LINKS = re.compile(r"(?:https?|javascript):[^\s\"'<>]+", re.IGNORECASE)


@tool(effect=Effect.READ)
def repeat(what: str) -> str:
    """Say it, or fail with it."""
    if what.startswith("fail"):
        raise InvalidCall(what)
    return what


@pytest.fixture
def hostile(ana, boss):
    """A run in which every part that others write is hostile, parked with a letter."""
    with registry.added(repeat):
        run = start(
            agent=case_agent(
                grants={n: {"policy": "ask_below"} for n in ("repeat", "post")}
            ),
            by=boss,
            task=HOSTILE,
        )
        said = {"what": HOSTILE}
        run, _ = play(
            run,
            calls(
                ("repeat", said), ("repeat", {"what": "fail " + HOSTILE}), text=HOSTILE
            ),
            calls(call(HOSTILE, said), call("repeat", HOSTILE)),
            calls(("post", said), text=HOSTILE),
            check(0.2, rationale=HOSTILE, will_do=HOSTILE, side_effects=[HOSTILE]),
        )
        yield run


def test_s03_a_mail_has_one_link_and_it_is_ours(ana, hostile):
    (sent,) = told(ana)

    page = sent.alternatives[0][0]
    ours = link("reviews", Review.objects.get())
    assert "<!channel>" not in page
    for body in (sent.body, page):
        assert {found for found in LINKS.findall(body) if "evil" not in found} == {ours}
    assert re.findall(r"href=\"([^\"]*)\"", page) == [ours]


@pytest.fixture
def by_slack(ana):
    Route.objects.create(person=ana, channel="slack", address=SLACK)


def test_s03_slack_gets_one_link_and_no_markup(by_slack, hostile, services):
    outbox.deliver()

    said = str(services.body)
    assert "<!channel>" not in said
    assert "<https" not in said
    assert link("reviews", Review.objects.get()) in said
