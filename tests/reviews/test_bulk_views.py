"""The groups above the list, the look before a decision on many, and its receipts."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from reviews import bulk, claims, groups
from reviews.models import Decision, Review
from runs import policy
from runs.states import ParkReason
from runs.tools import registry
from tests.support import factory, lookalikes

pytestmark = pytest.mark.django_db

TOGETHER = "/reviews/together/"
DECIDE = "/reviews/together/decide/"


@pytest.fixture(autouse=True)
def prices():
    policy.forget()
    with registry.added(lookalikes.PRICE, lookalikes.SHOP):
        yield
    policy.forget()


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def agent():
    return lookalikes.make_agent()


def group_of(agent, amounts=(18.9, 18.9, 18.9, 18.9, 99.0)):
    return [lookalikes.price(amount, agent) for amount in amounts]


def alike(review):
    return reverse("reviews:alike", args=[review.shape])


def sent(reviews, kind="approve", **more):
    picks = [bulk.Item.of(review).text for review in reviews]
    return {"kind": kind, "pick": picks, "batch": "b1"} | more


def amounts(lines):
    return [line.review.proposal["arguments"]["amount"] for line in lines]


def text_of(answer):
    """What is read on the page, tags and runs of blanks taken out."""
    return " ".join(re.sub(r"<[^>]+>", "", answer.content.decode()).split())


# Above the list


def test_the_inbox_names_groups_of_three_and_what_differs(client, ana, agent):
    reviews = group_of(agent)
    for number in range(2):
        lookalikes.stopped(number, agent)

    page = client.get(reverse("reviews:inbox"))

    assert "Set price: 4 alike, 1 differs in amount" in text_of(page)
    assert alike(reviews[0]) in page.content.decode()
    assert "runs stopped with" not in text_of(page)


def test_what_one_outage_stopped_can_be_retried_from_the_inbox(client, ana, agent):
    reviews = [lookalikes.stopped(number, agent) for number in range(14)]

    page = client.get(reverse("reviews:inbox"))

    words = "14 runs stopped with: The endpoint answered 503: overloaded"
    assert words in text_of(page)
    assert f"{alike(reviews[0])}?kind=retry" in page.content.decode()


def test_groups_of_what_one_may_not_decide_on_are_not_shown(ana, agent):
    agent.deciders.set([factory.Group.objects.create(name="pricing")])
    other = lookalikes.make_agent()
    reviews = [*group_of(agent), *group_of(other, (1, 1))]
    reviews += [lookalikes.price(1, other, by=ana) for _ in range(3)]

    assert groups.among(ana, reviews) == []


def test_questions_make_no_group(ana):
    reviews = [
        factory.park(reason=ParkReason.QUESTION, has_call=False) for _ in range(3)
    ]

    assert len({review.shape for review in reviews}) == 1
    assert groups.among(ana, reviews) == []


def test_a_large_group_says_how_far_it_was_compared(ana, agent, monkeypatch):
    monkeypatch.setattr(groups, "COMPARED", 4)
    reviews = group_of(agent, (5, 5, 99, 5, 5, 5))

    (group,) = groups.among(ana, reviews)

    assert group.words == "6 alike; of the first 4, 3 alike, 1 differs in amount"


def test_somebody_in_two_groups_of_deciders_counts_each_item_once(ana, agent):
    two = [factory.Group.objects.create(name=name) for name in ("one", "two")]
    agent.deciders.set(two)
    ana.groups.add(*two)

    (group,) = groups.among(ana, group_of(agent))

    assert (group.size, group.words) == (5, "4 alike, 1 differs in amount")


def test_groups_take_three_queries_however_many(
    ana, agent, django_assert_max_num_queries
):
    reviews = group_of(agent) + [lookalikes.stopped(n, agent) for n in range(4)]

    with django_assert_max_num_queries(5):  # two of them for the person's rights
        assert len(groups.among(ana, reviews)) == 2


def test_a_stopped_item_leads_to_all_that_stopped_alike(client, ana, agent):
    reviews = group_of(agent)
    failed = lookalikes.stopped(1, agent)

    page = client.get(reverse("reviews:detail", args=[failed.pk]))
    other = client.get(reverse("reviews:detail", args=[reviews[0].pk]))

    assert f"{alike(failed)}?kind=retry" in page.content.decode()
    assert "same error" not in text_of(other)


# The look before


def test_the_group_shows_what_differs_and_sets_apart_who_stands_out(client, ana, agent):
    reviews = group_of(agent)

    look = client.get(alike(reviews[0])).context["look"]

    (section,) = look.sections
    assert section.words == "4 alike, 1 differs in amount"
    assert section.columns == ["Amount"]
    assert [cell.name for cell in section.same] == ["Item", "Reason"]
    assert amounts(section.lines) == [18.9] * 4
    assert amounts(section.odd) == [99.0]
    assert [line.is_ticked for line in look.lines] == [True] * 4 + [False]
    assert look.kind == "approve"
    assert Decision.objects.count() == 0


def test_what_is_left_out_is_listed_with_the_cause(client, ana, agent):
    ben = factory.make_user("ben", "operators")
    fine, held, decided, cancelled = group_of(agent, (1, 1, 1, 1))
    claims.claim(held.pk, by=ben)
    bulk.decide([bulk.Item.of(decided)], by=ben, kind="approve", batch="")
    Review.objects.filter(pk=cancelled.pk).update(
        status="cancelled", closed_at=fine.opened_at
    )
    question = factory.park(reason=ParkReason.QUESTION, has_call=False)
    final = factory.park()
    ours = lookalikes.price(1, agent, by=ana)
    all_of_them = [fine, held, decided, cancelled, question, final, ours]

    picks = {"pick": [str(review.pk) for review in all_of_them]}
    look = client.post(TOGETHER, picks).context["look"]

    causes = {one.row.review.pk: one.cause for one in look.left}
    assert look.kind == "approve"
    assert [line.review.pk for line in look.lines] == [fine.pk]
    assert causes[held.pk].startswith("ben holds it until ")
    assert causes[decided.pk] == "Approved meanwhile."
    assert causes[cancelled.pk] == "Cancelled meanwhile."
    assert causes[question.pk] == "It needs an answer of its own."
    assert causes[final.pk] == "Its call cannot be undone: decide on it by itself."
    assert causes[ours.pk].startswith("You asked for this run")


def test_another_decision_has_a_look_of_its_own(client, ana, agent):
    letters = [factory.park() for _ in range(3)]

    first = client.get(alike(letters[0])).context["look"]
    look = client.get(f"{alike(letters[0])}?kind=reject").context["look"]

    assert {one.kind: one.number for one in first.choices} == {
        "guide": 3,
        "reject": 3,
        "abort": 3,
    }
    assert len(look.lines) == 3
    assert look.left == []


def test_what_was_ticked_and_typed_stays_when_the_decision_changes(client, ana, agent):
    reviews = group_of(agent)
    final = factory.park()
    shown = [str(review.pk) for review in reviews]

    look = client.post(
        TOGETHER,
        {
            "kind": ["approve", "reject"],  # the hidden one, then the button pressed
            "id": [*shown, str(final.pk)],
            "box": shown,
            "pick": [bulk.Item.of(review).text for review in reviews[3:]],
            "note": "Not today.",
        },
    ).context["look"]

    ticked = {line.review.pk for line in look.lines if line.is_ticked}
    assert look.kind == "reject"
    assert ticked == {reviews[3].pk, reviews[4].pk, final.pk}
    assert look.form["text"].value() == "Not today."


def test_more_than_a_batch_is_cut_and_said_so(client, ana, agent, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 3)
    reviews = group_of(agent)

    page = client.get(alike(reviews[0]))

    assert len(page.context["look"].lines) == 3
    assert "these are the first, 2 more follow" in text_of(page)


def test_nothing_selected_says_how_to_select(client, ana):
    for page in (client.get(TOGETHER), client.post(TOGETHER, {"pick": "nonsense"})):
        assert page.status_code == 200
        assert "Nothing is selected" in text_of(page)


def test_hidden_characters_are_visible_and_long_values_whole(client, ana, agent):
    reviews = [lookalikes.price(1, agent, item=f"{n}\u202e" * 99) for n in "abc"]

    page = client.get(alike(reviews[0])).content.decode()

    assert "\u202e" not in page
    assert page.count("U+202E") >= 99 * 3


def test_a_look_at_fifty_takes_few_queries(
    client, ana, agent, django_assert_max_num_queries
):
    reviews = group_of(agent, [18.9] * 50)
    client.get(alike(reviews[0]))

    with django_assert_max_num_queries(15):
        look = client.get(alike(reviews[0])).context["look"]

    assert len(look.lines) == 50


def test_a_submitter_looks_at_nothing(client):
    client.force_login(factory.make_user("eve", "submitters"))
    shape = factory.park().shape

    for path in (reverse("reviews:alike", args=[shape]), TOGETHER):
        assert client.get(path).status_code == 403
    assert client.post(DECIDE, {}).status_code == 403


# The decision and its receipts


def test_each_item_has_a_receipt(client, ana, agent):
    reviews = group_of(agent)

    page = client.post(DECIDE, sent(reviews[:4], note="Fine."))

    assert "4 of 4 decided" in text_of(page)
    decisions = Decision.objects.filter(review__in=reviews)
    assert {one.note for one in decisions} == {"Fine."}
    assert decisions.count() == 4


def test_what_failed_stays_selected_with_why(client, ana, agent):
    ben = factory.make_user("ben", "operators")
    reviews = group_of(agent)
    form = sent(reviews)
    items, words = [bulk.Item.of(reviews[1])], {"text": "No."}
    bulk.decide(items, by=ben, kind="reject", batch="", payload=words)

    page = client.post(DECIDE, form)

    assert "4 of 5 decided" in text_of(page)
    (failed,) = page.context["failed"]
    assert failed.review.pk == reviews[1].pk
    assert failed.why_not == "ben has decided already: rejected."
    assert f'value="{reviews[1].pk}" checked' in page.content.decode()


def test_a_batch_sent_twice_decides_once(client, ana, agent):
    form = sent(group_of(agent))
    client.post(DECIDE, form)

    page = client.post(DECIDE, form | {"batch": "b2"})

    assert "5 of 5 decided" in text_of(page)
    assert Decision.objects.count() == 5


def test_missing_words_keep_the_form_as_it_was(client, ana, agent):
    reviews = group_of(agent)
    shown = [str(review.pk) for review in reviews]

    page = client.post(DECIDE, sent(reviews[:2], "reject", id=shown, box=shown))

    look = page.context["look"]
    assert page.status_code == 422
    assert look.kind == "reject"
    assert [line.is_ticked for line in look.lines] == [True, True, False, False, False]
    assert look.form["text"].errors
    assert Decision.objects.count() == 0


def test_a_preset_is_reason_enough(client, ana, agent):
    reviews = group_of(agent)

    client.post(DECIDE, sent(reviews[:2], "reject", preset="timing", text=""))

    notes = {decision.note for decision in Decision.objects.all()}
    assert notes == {"It is not the time for it."}
    assert Decision.objects.count() == 2


def test_nothing_ticked_is_said_so(client, ana, agent):
    shown = [str(review.pk) for review in group_of(agent)]

    page = client.post(DECIDE, sent([], id=shown, box=shown))

    assert page.status_code == 422
    assert "Nothing is ticked" in text_of(page)
    assert Decision.objects.count() == 0


def test_opening_the_address_decides_nothing(client, ana):
    page = client.get(DECIDE)

    assert page.status_code == 405
    assert page["Allow"] == "POST"


def test_a_forged_form_approves_nothing_irreversible(client, ana):
    review = factory.park()

    page = client.post(DECIDE, sent([review], note=""))

    assert "0 of 1 decided" in text_of(page)
    assert Decision.objects.count() == 0


def test_a_forged_kind_is_refused(client, ana, agent):
    page = client.post(DECIDE, sent(group_of(agent), "edit"))

    assert page.status_code == 422
    assert Decision.objects.count() == 0


def test_a_single_decisions_form_cannot_pretend_to_be_of_a_batch(client, ana, agent):
    review = lookalikes.price(1, agent)
    forged = {"item_version": 1, "digest": review.digest, "together": "x"}

    client.post(reverse("reviews:decide", args=[review.pk, "approve"]), forged)

    assert Decision.objects.get().payload == {"note": ""}


def test_the_rest_of_a_group_is_offered_next(client, ana, agent):
    reviews = group_of(agent)

    page = client.post(DECIDE, sent(reviews[:2]))

    assert "3 more alike" in text_of(page)


def test_retrying_all_says_when_each_goes_on(client, ana, agent):
    reviews = [lookalikes.stopped(number, agent) for number in range(14)]
    look = client.get(f"{alike(reviews[0])}?kind=retry").context["look"]

    page = client.post(DECIDE, sent([line.review for line in look.lines], "retry"))

    assert len(look.lines) == 14
    assert "14 of 14 decided" in text_of(page)
    assert text_of(page).count("goes on at once") == 10
    assert len(re.findall(r"goes on at \d\d:\d\d:\d\d", text_of(page))) == 4
