"""What people type loses its secrets before a view sees it, and they are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import reverse

from reviews.models import Decision, Draft, Note, Review
from runs.models import Agent, Run
from runs.tools import registry
from tests.runs.test_admin import agent_form
from tests.support import factory
from tests.support.canaries import SHAPES

pytestmark = pytest.mark.django_db

KEY = SHAPES["openai"]
SAID = "Hidden before anything kept it: an API key."


@pytest.fixture
def review(client, people) -> Iterator[Review]:
    client.force_login(people.operator)
    with registry.added(factory.LETTER):
        yield factory.park()


def page(answer) -> str:
    return answer.content.decode()


def test_a_task_with_a_key_is_shown_once_more_before_anything_starts(client, people):
    client.force_login(people.submitter)
    agent = factory.make_agent()
    task = {"agent": agent.slug, "task": f"Use {KEY} to look"}

    answer = client.post(reverse("runs:new"), task)

    assert answer.status_code == 422
    assert "Here was an API key. It is hidden" in page(answer)
    assert "Use [hidden: an API key] to look" in page(answer)
    assert KEY not in page(answer)
    assert not Run.objects.exists()


def test_sent_again_as_it_is_shown_it_starts(client, people):
    client.force_login(people.submitter)
    agent = factory.make_agent()
    task = {"agent": agent.slug, "task": "Use [hidden: an API key] to look"}

    client.post(reverse("runs:new"), task)

    assert Run.objects.get().task == "Use [hidden: an API key] to look"


def test_a_note_is_kept_without_its_key_and_its_writer_is_told(client, review):
    address = reverse("reviews:notes", args=[review.pk])

    answer = client.post(address, {"text": f"it is {KEY}"}, follow=True)

    assert Note.objects.get().text == "it is [hidden: an API key]"
    assert SAID in page(answer)
    assert KEY not in page(answer)


def test_a_draft_is_kept_without_its_key_and_says_nothing_of_it_yet(client, review):
    address = reverse("reviews:draft", args=[review.pk, "reject"])

    client.post(address, {"text": f"it is {KEY}"})
    answer = client.get(reverse("reviews:detail", args=[review.pk]))

    assert KEY not in str(Draft.objects.get().fields)
    assert SAID not in page(answer)


def test_an_argument_called_password_is_no_field_made_for_secrets(client, review):
    address = reverse("reviews:draft", args=[review.pk, "edit"])

    client.post(address, {"arguments.password": f"it is {KEY}"})

    assert KEY not in str(Draft.objects.get().fields)


def test_a_decision_is_made_without_the_key_in_its_words(client, review):
    client.post(
        reverse("reviews:decide", args=[review.pk, "abort"]),
        {"item_version": review.version, "text": f"it leaks {KEY}"},
    )

    assert Decision.objects.get().note == "it leaks [hidden: an API key]"


def test_an_edit_with_a_key_in_it_is_refused_where_it_was_entered(client, review):
    edit = {
        "item_version": review.version,
        "digest": review.digest,
        "arguments.subject": f"The key is {KEY}",
    }

    answer = client.post(reverse("reviews:decide", args=[review.pk, "edit"]), edit)

    assert answer.status_code == 422
    assert "is gone and cannot be passed on" in page(answer)
    assert KEY not in page(answer)
    assert not Decision.objects.exists()


def test_passwords_are_left_alone(client, people):
    people.operator.set_password(KEY)
    people.operator.save()

    client.post(reverse("login"), {"username": "operator", "password": KEY})

    assert client.session["_auth_user_id"] == str(people.operator.pk)


def test_an_address_for_notices_is_left_alone(client, people):
    client.force_login(people.operator)
    address = "https://hook.example/x?sig=Zq7RtB2mKx9WvL4pHd8s"

    client.post(
        reverse("reviews:routes"),
        {"channel": "webhook", "address": address, "least_risk": "low"},
    )

    assert people.operator.routes.get().address == address


def test_admin_text_is_kept_without_its_key(admin_client):
    sent = agent_form(prompt=f"Use {KEY}.", grants="{}")

    admin_client.post(reverse("admin:runs_agent_add"), sent)

    assert Agent.objects.get().prompt == "Use [hidden: an API key]."
