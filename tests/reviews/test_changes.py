"""What an edit changes: line by line, before it is sent and after it was decided."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from reviews.decisions import changes, registry
from reviews.decisions.schema_fields import arguments_of
from reviews.models import Decision
from runs.errors import BadInput
from runs.tools import registry as tools
from runs.tools.base import Effect, tool
from tests.support import factory


def lines(was: Any, now: Any) -> list[tuple[str, str]]:
    (change,) = changes.between({"x_y": was}, {"x_y": now})
    return [(line.tag, line.text) for line in change.lines]


def test_only_changed_lines_are_shown_with_what_is_around_them():
    assert lines("a\nb\nc\nd\ne", "a\nb\nC\nd\ne") == [
        ("", "b"),
        ("del", "c"),
        ("ins", "C"),
        ("", "d"),
    ]


@pytest.mark.parametrize(
    ("was", "now", "shown"),
    [
        (1, 2, [("del", "1"), ("ins", "2")]),
        (1, "1", [("del", "1"), ("ins", '"1"')]),
        ("a\r\n", "a\n", [("del", '"a\\r\\n"'), ("ins", '"a\\n"')]),
        ("a", "", [("del", "a"), ("ins", "empty")]),
        (None, True, [("del", "null"), ("ins", "true")]),
    ],
)
def test_every_difference_can_be_seen(was, now, shown):
    assert lines(was, now) == shown


def test_arguments_that_come_or_go_are_said_so():
    found = changes.between({"a": 1, "b": 2}, {"b": 2, "c_d": 3})

    assert [change.label for change in found] == ["A", "C d"]
    assert [(line.tag, line.text) for line in found[0].lines] == [
        ("del", "1"),
        ("ins", "not given"),
    ]


# The pages

pages = pytest.mark.django_db


@pytest.fixture
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def review(db, letters):
    return factory.park()


@pytest.fixture
def operator(client, db):
    client.force_login(factory.make_user("ana", "operators"))
    return client


def send(client, review, **fields):
    sent = {"item_version": review.version, "digest": review.digest} | fields
    return client.post(reverse("reviews:decide", args=[review.pk, "edit"]), sent)


EDIT = {"arguments.subject": "Q3 <b>", "arguments.body": "September grew 37.3 %."}


def test_a_preview_shows_what_would_change_and_decides_nothing(operator, review):
    page = send(operator, review, preview="1", **EDIT)

    said = page.content.decode()
    assert page.status_code == 200
    assert "<del>Subject: Q3 2024 Revenue Summary</del>" in said
    assert "<ins>Subject: Q3 &lt;b&gt;</ins>" in said
    assert "<del>Body: It is flagged.</del>" in said
    assert "Nothing was decided yet. This is what would change" in said
    assert not Decision.objects.exists()


def test_a_preview_of_what_has_changed_meanwhile_is_stale(operator, review):
    assert send(operator, review, preview="1", item_version=9).status_code == 409


def test_a_preview_is_checked_as_the_decision_is(operator, review):
    page = send(operator, review, preview="1", **{"arguments.copies": "many"})

    assert page.status_code == 422
    assert "Put right what is marked" in page.content.decode()


def test_what_was_changed_is_shown_beside_what_is_wrong(operator, review):
    page = send(operator, review, **EDIT, **{"arguments.copies": "many"})

    said = page.content.decode()
    assert page.status_code == 422
    assert "<ins>Subject: Q3 &lt;b&gt;</ins>" in said


def test_a_decided_item_shows_what_was_edited(operator, review):
    send(operator, review, **EDIT)

    page = operator.get(reverse("reviews:detail", args=[review.pk])).content.decode()

    assert "What was changed" in page
    assert "<del>Subject: Q3 2024 Revenue Summary</del>" in page


def test_an_item_approved_as_it_was_shows_no_changes(operator, review):
    send(operator, review)

    page = operator.get(reverse("reviews:detail", args=[review.pk])).content.decode()

    assert "What was changed" not in page


@pages
def test_what_may_be_left_out_is_marked(operator, review):
    page = operator.get(reverse("reviews:detail", args=[review.pk])).content.decode()

    assert (
        'for="id_edit_arguments.copies">Copies <span class="muted">(optional)' in page
    )
    assert 'for="id_edit_arguments.subject">Subject</label>' in page


# Schemas


def test_a_constant_can_be_seen_and_not_changed():
    schema = {"properties": {"kind": {"const": "card"}}, "required": ["kind"]}
    (argument,) = arguments_of(schema, {"kind": "card"})

    into: dict[str, Any] = {}
    argument.put('"card"', into)

    assert argument.field().choices == [('"card"', "card")]  # type: ignore[attr-defined]
    assert into == {"kind": "card"}


@tool(effect=Effect.IRREVERSIBLE)
def ship(boxes: list[dict[str, int]]) -> str:
    """Ship boxes."""
    return "shipped"


@pages
def test_a_mistake_inside_a_list_is_placed_and_located(letters):
    with tools.added(ship):
        agent = factory.make_agent(grants={"ship": {"policy": "ask_below"}})
        run = factory.make_run(agent)
        arguments = {"boxes": [{"kg": 1}]}
        call = factory.make_call(run, arguments, tool="ship")
        review = factory.park(run, call=call)
        edit = registry.find("edit")
        sent = {"arguments.boxes": '[{"kg": 1}, {"kg": "heavy"}]'}

        with pytest.raises(BadInput) as caught:
            edit.to_verdict(review, edit.clean(review, sent))

    assert set(caught.value.fields) == {"arguments.boxes"}
    assert caught.value.fields["arguments.boxes"].startswith("1.kg: ")


def test_a_preview_of_a_call_whose_tool_is_not_granted_any_more_says_so(operator):
    review = factory.park(factory.make_run(factory.make_agent(grants={})))

    answer = send(operator, review, preview="1", **EDIT)

    assert answer.status_code == 409
