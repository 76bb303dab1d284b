"""The inbox over HTTP: views, filters, search, and pages of the list."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from agentops import clock
from reviews import afterwards, inbox
from reviews.models import Review, Seen
from reviews.models.review import ReviewStatus
from runs.states import ParkReason, RunState
from tests.support import factory
from tests.support.inbox import age, close, listed, look

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def short_pages(monkeypatch):
    monkeypatch.setattr(inbox, "ROWS", 2)


# Views


def test_a_submitter_has_no_inbox(client):
    client.force_login(factory.make_user("", "submitters"))

    assert client.get(reverse("reviews:inbox")).status_code == 403


def test_the_list_goes_by_rank_and_chooses_the_first(client, operator):
    late, soon = factory.park(), factory.park()
    Review.objects.filter(pk=soon.pk).update(rank_at=clock.now())

    page = look(client)

    assert [row.review.pk for row in page.context["rows"]] == [soon.pk, late.pk]
    assert page.context["chosen"] == soon.pk


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 3),
        ("view=nonsense", 3),
        ("view=mine", 0),
        ("view=unclaimed", 3),
        ("view=soon", 0),
        ("view=unsure", 1),
        ("view=budget", 0),
        ("view=errors", 1),
        ("view=unknown", 0),
        ("view=expired", 0),
        ("view=decided", 0),
        ("reason=question", 1),
        ("reason=nonsense", 3),
        ("q=ANALYTICS", 1),
        ("q=september+analytics", 1),
        ("q=september+nothing", 0),
        ("agent=nobody", 0),
        ("agent=%00", 3),
        ("tool=post_letter", 1),
        ("by=nobody", 0),
        ("older=1h", 0),
        ("older=nonsense", 3),
        ("cost=0.01", 0),
        ("cost=nan", 3),
        ("cost=-1", 3),
        ("cost=1e999999", 3),
    ],
)
def test_views_and_filters_are_in_the_address(client, operator, query, number):
    factory.park()
    factory.park(reason=ParkReason.QUESTION, has_call=False, title="Which one?")
    factory.park(reason=ParkReason.FATAL, has_call=False, title="It broke")

    assert len(listed(client, query)) == number


def test_mine_and_unclaimed_go_by_who_holds_now(client, operator):
    held, lapsed, free = factory.park(), factory.park(), factory.park()
    for review, until in ((held, clock.later(60)), (lapsed, clock.later(-1))):
        Review.objects.filter(pk=review.pk).update(holder=operator, holder_until=until)

    assert listed(client, "view=mine") == [held]
    assert listed(client, "view=unclaimed") == [lapsed, free]


def test_filters_narrow_by_agent_submitter_age_and_cost(client, operator):
    old = factory.park(factory.make_run(cost=Decimal("0.40")))
    factory.park(factory.make_run(cost=Decimal("0.02")))
    age(old, hours=5)
    who, agent = old.run.submitter.username, old.run.agent.slug

    for query in (f"by={who}", f"agent={agent}", "older=4h", "cost=0.4"):
        assert listed(client, query) == [old], query


def test_what_expired_is_listed_while_its_run_is_still_parked(client, operator):
    left, resumed = factory.park(), factory.park()
    Review.objects.update(status=ReviewStatus.EXPIRED.value, closed_at=clock.now())
    factory.change_state(resumed.run, RunState.EXECUTING)

    assert listed(client, "view=expired") == [left]
    assert set(listed(client, "view=decided")) == {left, resumed}


def test_what_went_ahead_unsure_waits_for_nobody_and_has_a_view(client, operator):
    factory.let_through("0.8")
    afterwards.open_reviews()
    parked = factory.park()

    page = look(client, "view=judge")

    (row,) = page.context["rows"]
    assert not row.is_waited_for
    assert "Not waiting" in page.content.decode()
    assert listed(client) == [parked]
    assert page.context["navigation"].waiting == 1


def test_every_view_counts_what_it_holds(client, operator):
    factory.park()
    factory.park(reason=ParkReason.BUDGET, has_call=False)
    factory.park(reason=ParkReason.RETRIES)
    factory.park(reason=ParkReason.OUTCOME_UNKNOWN)
    close(factory.park(), text="No")

    navigation = look(client).context["navigation"]

    counts = {link.view.name: link.count for link in navigation.links}
    assert counts == {name: len(listed(client, f"view={name}")) for name in counts}
    assert counts["open"] == 4
    assert counts["errors"] == counts["budget"] == counts["unknown"] == 1


def test_counts_are_right_for_who_decides_through_two_groups(client, operator):
    agent = factory.make_agent()
    agent.deciders.set(operator.groups.all())
    second = operator.groups.create(name="second")
    agent.deciders.add(second)
    factory.park(factory.make_run(agent))
    other = factory.make_agent()
    other.deciders.create(name="others")
    factory.park(factory.make_run(other))

    page = look(client)

    assert page.context["navigation"].waiting == 1
    assert len(page.context["rows"]) == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Nothing waits for a decision"),
        ("view=mine", "You hold nothing"),
        ("view=unclaimed", "Nobody is waited for"),
        ("view=soon", "Nothing is overdue"),
        ("view=unsure", "for want of confidence"),
        ("view=budget", "used up one of its budgets"),
        ("view=errors", "stopped by an error"),
        ("view=unknown", "nobody knows whether it took effect"),
        ("view=judge", "has been judged good or bad"),
        ("view=expired", "nobody decided in time"),
        ("view=decided", "Nothing has been closed"),
        ("q=nothing", "No item fits"),
    ],
)
def test_every_empty_view_says_what_belongs_there(client, operator, query, words):
    page = look(client, query).content.decode()

    assert words in page
    assert "Not up to date" in page  # for when the feed is stale, hidden until then


# Rows


def test_a_row_says_all_that_one_chooses_by(client, operator):
    review = factory.park()
    agent, person = review.run.agent.name, review.run.submitter.username

    row = look(client).content.decode().split('<li class="item ')[1].split("</li>")[0]

    for words in (
        "Post to analytics@example.com",
        "Low confidence",
        agent,
        person,
        " left",
        "Medium risk",
        "Unclaimed",
        "The call cannot be undone",
    ):
        assert words in row
    assert "{" not in row


def test_what_one_has_not_opened_is_marked(client, operator):
    opened, new = factory.park(), factory.park()
    somebody = factory.make_user("ben", "operators")
    now = clock.now()
    Seen.objects.create(review=opened, person=operator, first_at=now)
    Seen.objects.create(review=new, person=somebody, first_at=now)

    rows = look(client).context["rows"]

    assert {row.review.pk: row.is_seen for row in rows} == {
        opened.pk: True,
        new.pk: False,
    }


@pytest.mark.parametrize(("seconds", "tone"), [(-60, "bad"), (600, "wait"), (7200, "")])
def test_time_left_is_told_by_tone_and_by_words(client, operator, seconds, tone):
    review = factory.park()
    Review.objects.filter(pk=review.pk).update(due_at=clock.later(seconds))

    page = look(client)

    assert page.context["rows"][0].urgency == tone
    assert ("overdue by" in page.content.decode()) == (seconds < 0)


# Pages of the list


@pytest.mark.parametrize("view", ["open", "decided"])
def test_a_long_list_goes_on_where_it_stopped(client, operator, short_pages, view):
    made = [factory.park() for _ in range(5)]
    if view == "decided":
        for review in made:
            close(review, text="No")

    found: list[Review] = []
    page = look(client, f"view={view}")
    while True:
        found += [row.review for row in page.context["rows"]]
        if not page.context["until"]:
            break
        page = look(client, f"view={view}&after={page.context['until']}", "more")

    assert found == (made if view == "open" else made[::-1])


def test_a_page_that_wants_the_list_again_gets_as_much_as_it_shows(
    client, operator, short_pages
):
    made = [factory.park() for _ in range(5)]
    first = look(client)
    second = look(client, f"after={first.context['until']}", "more")

    again = look(client, f"until={second.context['until']}", "list")

    assert [row.review for row in again.context["rows"]] == made[:4]


@pytest.mark.parametrize("mark", ["nonsense", "~", "9999-12-31T23:59:59-23:59~x"])
def test_a_mark_that_is_none_starts_at_the_top(client, operator, mark):
    review = factory.park()

    assert listed(client, f"after={mark}") == [review]


def test_an_item_of_the_address_is_shown_wherever_it_stands(client, operator):
    first, second = factory.park(), factory.park()
    decided = factory.park()
    Review.objects.filter(pk=decided.pk).update(rank_at=second.rank_at)
    close(decided, text="No")

    page = look(client, f"item={decided.pk}")

    assert page.context["chosen"] == decided.pk
    assert page.context["following"] == second.pk
    assert look(client, f"item={second.pk}").context["chosen"] == second.pk
    assert look(client, "item=nonsense").context["chosen"] == first.pk
