"""Cases B: what runs cost, and when they stop."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from runs import policy, recording
from runs.errors import BadInput
from runs.models import Price, Run, Step
from runs.records import Delta
from runs.services import start
from runs.values import VerdictKind
from tests.cases.conftest import case_agent
from tests.flows.conftest import decide
from tests.support.acts import acts
from tests.support.advance import advance, park_of, provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

DONE = text("Done.")
ECHO = calls(("echo", {"text": "x"}))


def usage(read, written, cached=None):
    found = {"prompt_tokens": read, "completion_tokens": written}
    found["total_tokens"] = read + written
    if cached is not None:
        found["prompt_tokens_details"] = {"cached_tokens": cached}
    return found


@pytest.fixture
def priced(db):
    """A model of ours at 2.50 / 1.25 / 10.00 per million."""
    set_price("ours", "2.50", "1.25", "10.00")
    return "ours"


def set_price(model, read, cached, written):
    Price.objects.update_or_create(
        model=model, defaults={"input": read, "cached": cached, "output": written}
    )
    policy.forget()


def begin(boss, **fields):
    return start(agent=case_agent(**fields), by=boss, task="Work")


def test_b01_cached_tokens_are_paid_once(boss, priced):
    run = begin(boss, model=priced)

    with provider(text("Done.", usage=usage(2006, 300, 1920))):
        run = settle(run)

    assert run.cost == run.steps.get().cost == Decimal("0.005615")


def test_b01_without_a_cached_price_the_full_one_holds(boss):
    set_price("ours", "2.50", None, "10.00")
    run = begin(boss, model="ours")

    with provider(text("Done.", usage=usage(2006, 300, 1920))):
        run = settle(run)

    assert run.cost == Decimal("0.008015")


def test_b03_a_model_without_a_price_is_refused_under_a_money_budget(boss):
    with pytest.raises(BadInput) as caught:
        begin(boss, model="nobody-knows-it")

    assert "nobody-knows-it" in caught.value.fields["limits.money"]


def test_b03_a_price_that_went_away_parks_naming_the_model(boss, priced):
    run = begin(boss, model=priced)
    Price.objects.all().delete()
    policy.forget()

    with provider() as model:
        run = settle(run)

    assert run.park_reason == "budget"
    assert "nobody knows what ours costs" in park_of(run)["question"]
    assert model.requests == []


def test_b03_the_price_is_that_of_the_model_asked_for(boss, priced):
    run = begin(boss, model=priced)

    with provider(text("Done.", usage=usage(1000, 0), model="gpt-4o-mini")):
        run = settle(run)

    assert run.cost == Decimal("0.0025")


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        {"total_tokens": 5},
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": -1, "completion_tokens": 5},
        {"prompt_tokens": 10**11, "completion_tokens": 5},
        "many",
    ],
)
def test_b04_usage_that_tells_nothing_is_estimated_upwards(boss, priced, given):
    run = begin(boss, model=priced)

    with provider(text("Done.", usage=given)):
        run = settle(run)

    assert run.state == "completed"
    assert run.cost > 0
    assert run.is_estimated
    assert run.steps.get().is_estimated


def test_b04_details_that_are_null_are_no_details(boss, priced):
    run = begin(boss, model=priced)
    found = usage(1000, 0) | {"prompt_tokens_details": None}

    with provider(text("Done.", usage=found)):
        run = settle(run)

    assert (run.cost, run.is_estimated) == (Decimal("0.0025"), False)


def test_b04_the_cap_ends_a_run_without_usage(boss, priced):
    run = begin(boss, model=priced, limits={"money": "0.05"})

    def another(body):
        return calls(("echo", {"text": str(len(body["messages"]))}), usage=None)

    with provider(then=another):
        run = settle(run)

    assert park_of(run)["figures"]["budget"] == "money"
    assert Decimal(0) < run.cost <= Decimal("0.05")


def test_b06_the_counter_is_the_sum_of_the_rows_exactly(boss):
    set_price("ours", "0.000007", None, "0.000003")
    run = begin(boss, model="ours", limits={"steps": 100})
    script = [
        calls(("echo", {"text": str(n)}), usage=usage(7 + n, 13 * n)) for n in range(30)
    ]

    with provider(*script, DONE):
        run = settle(run)

    total = Step.objects.filter(run=run).aggregate(total=Sum("cost"))["total"]
    assert run.state == "completed"
    assert run.cost == total == sum(step.cost for step in run.steps.all())


@pytest.mark.parametrize("amount", ["0.0000000003", "0.1", "9.9000000007"])
def test_b06_ten_thousand_amounts_add_up_exactly(boss, amount):
    run = begin(boss)
    added = recording._added(Delta(cost=Decimal(amount)))
    with CaptureQueriesContext(connection) as captured:
        Run.objects.filter(pk=run.pk).update(**added)

    # PostgreSQL adds decimals as decimals, so fewer will do there
    times = 10_000 if connection.vendor == "sqlite" else 1_000
    again(captured[0]["sql"], times - 1)

    run.refresh_from_db()
    assert run.cost == times * Decimal(amount)


def again(sql: str, times: int) -> None:
    """Execute the statement so often, where it costs no way to the server."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            loop = f"FOR n IN 1..{times} LOOP {sql}; END LOOP"
            cursor.execute(f"DO $do$ BEGIN {loop}; END $do$")
            return
        for _ in range(times):
            cursor.execute(sql)


@pytest.mark.parametrize("spent", [("0.1", "0.7"), ("0.8",), ("0.5", "0.3000001")])
def test_b06_what_is_reached_is_stopped(boss, priced, spent):
    run = begin(boss, model=priced, limits={"money": "0.8"})
    run.cost = sum(map(Decimal, spent), Decimal(0))
    run.save(update_fields=["cost"])

    with provider() as model:
        run = settle(run)

    assert (run.park_reason, model.requests) == ("budget", [])


LIMITS = [
    {"steps": 0},
    {"steps": -1},
    {"steps": 1.5},
    {"steps": "many"},
    {"steps": True},
    {"steps": 10**9},
    {"money": "0"},
    {"money": "-1"},
    {"money": "NaN"},
    {"money": "Infinity"},
    {"money": "1e400"},
    {"money": "0.0000001"},
    {"money": "\x00"},
    {"tokens": 0},
    {"tokens": [1]},
    {"seconds": "soon"},
    {"hours": 1},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_b03_a_limit_that_is_none_is_refused_at_the_start(boss, limits):
    with pytest.raises(BadInput):
        start(agent=case_agent(), by=boss, task="Work", limits=limits)

    assert not Run.objects.exists()


@pytest.mark.parametrize("limits", [{"steps": 2}, {}, *LIMITS], ids=str)
def test_b09_a_top_up_that_tops_nothing_up_is_refused(boss, limits):
    run = begin(boss, limits={"steps": 2})

    with provider(ECHO):
        run = settle(run)
        with pytest.raises(BadInput):
            decide(run, boss, VerdictKind.TOP_UP, limits=limits)

    run.refresh_from_db()
    assert (run.state, run.limits["steps"]) == ("awaiting_human", 2)


def test_b08_a_clock_that_is_put_back_gives_no_time_back(boss, advance_clock):
    run = begin(boss, limits={"seconds": 60})

    with provider(calls(("flaky", {"text": "x"})), DONE):
        run = advance(run)
        used_ms = run.active_ms
        advance_clock(-3600)
        run = settle(run)

    assert run.state == "completed"
    assert run.active_ms >= used_ms >= 0
    assert run.waited_ms >= 0


def test_b08_waiting_for_a_person_is_free(boss, advance_clock, client):
    run = begin(boss, limits={"seconds": 60})

    with provider(calls(("ask_human", {"question": "Well?"})), DONE):
        run = settle(run)
        advance_clock(22 * 3600)
        decide(run, boss, VerdictKind.ANSWER, text="Yes.")
        run = settle(run)

    assert run.state == "completed"
    assert run.active_ms < 60_000
    assert run.waited_ms >= 22 * 3600 * 1000
    client.force_login(boss)
    page = client.get(reverse("runs:detail", args=[run.pk])).content.decode()
    assert "<dt>Waited for a person</dt><dd>22 h" in page
    assert "Active time" in page


def test_b08_waiting_for_a_retry_is_not(boss):
    run = begin(boss, limits={"seconds": 6})

    with provider(calls(("flaky", {"text": "x"}))):
        run = settle(run)

    assert run.active_ms >= 6000
    assert park_of(run)["figures"]["budget"] == "seconds"
    assert run.steps.get(name="flaky").status == "skipped"


@pytest.mark.parametrize(
    ("limits", "more"),
    [
        ({"steps": 2}, {"steps": 9}),
        ({"tokens": 5000}, {"tokens": 100_000}),
        ({"money": "0.03"}, {"money": "1.00"}),
    ],
)
def test_b09_a_topped_up_run_goes_on_where_it_stopped(boss, priced, limits, more):
    run = begin(boss, model=priced, limits=limits)

    with provider(
        calls(("echo", {"text": "x"}), usage=usage(3000, 1000)), DONE
    ) as model:
        run = settle(run)
        parked = (
            run.park_reason,
            park_of(run)["figures"]["budget"],
            len(model.requests),
        )
        decide(run, boss, VerdictKind.TOP_UP, limits=more)
        run = settle(run)

    assert parked == ("budget", *limits, 1)
    assert run.state == "completed"
    assert run.steps.filter(name="echo").count() == 1


def test_b09_a_top_up_that_is_too_small_is_refused(boss):
    run = begin(boss, limits={"steps": 1})

    with provider(ECHO):
        run = settle(run)
        with pytest.raises(BadInput) as caught:
            decide(run, boss, VerdictKind.TOP_UP, limits={"steps": 1})

    run.refresh_from_db()
    assert "limits.steps" in caught.value.fields
    assert run.state == "awaiting_human"


def test_b09_budgets_are_looked_at_right_before_an_act(boss):
    run = begin(boss, limits={"steps": 3})

    with provider(calls(("post", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        run.limits = {**run.limits, "steps": 2}
        run.save(update_fields=["limits"])
        run = settle(run)

    assert run.park_reason == "budget"
    assert acts() == []
