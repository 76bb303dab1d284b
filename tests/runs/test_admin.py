"""Admins set up agents, tools and prices; what runs wrote is only looked at."""

from __future__ import annotations

import json

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse

from agentops import clock
from reviews import services
from reviews.models import Profile, Route
from runs import guidance
from runs.models import (
    Agent,
    AgentVersion,
    Attempt,
    Driver,
    Guidance,
    Price,
    Run,
    Tool,
)
from runs.tool_rows import sync_tools
from runs.tools import registry
from tests.runs.admin import agent_form, errors, url
from tests.support import factory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("letters")]

OURS = [
    model
    for model in admin.site._registry
    if model._meta.app_label in {"runs", "reviews"}
]
EDITABLE = {"agent", "tool", "price", "guidance"}
every_model = pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.model_name)


@pytest.fixture
def boss():
    user = factory.make_user("boss", "admins")
    user.is_staff = True
    user.save()
    return user


@pytest.fixture
def signed_in(client, boss):
    client.force_login(boss)
    return client


@every_model
def test_an_admin_sees_every_list(signed_in, model):
    factory.park()

    assert signed_in.get(url(model, "changelist")).status_code == 200


def test_an_admin_sees_the_index_and_the_people(signed_in):
    for name in ("index", "auth_user_changelist", "auth_group_changelist"):
        assert signed_in.get(reverse(f"admin:{name}")).status_code == 200


@every_model
def test_an_admin_can_search_every_list(signed_in, model):
    for words in ("a", "00000000-0000-0000-0000-000000000000"):
        response = signed_in.get(url(model, "changelist"), {"q": words})
        assert response.status_code == 200


@pytest.fixture
def one_of_each():
    """A row of every model there is."""
    ana, now = factory.make_user("ana", "operators"), clock.now()
    run = factory.make_run()
    call = factory.make_call(run)
    factory.start_effect(run, call, "nobody")
    review = factory.park(run, call=call)
    services.decide(
        review.pk, by=ana, kind="approve", item_version=1, digest=review.digest
    )
    guidance.keep("Mind the rounding.", by=ana, at=now, agent=run.agent)
    Price.objects.create(model="local", input=0, output=0)
    Profile.objects.create(person=ana)
    Route.objects.create(person=ana, channel="email", address="ana@example.org")
    Driver.objects.create(
        owner="one", host="here", slot=1, pid=1, started_at=now, beat_at=now
    )
    Attempt.objects.create(
        run=run,
        step_number=1,
        number=1,
        error_class="transient",
        error_text="<b>no answer</b>",
        started_at=now,
        finished_at=now,
        retry_at=now,
    )


@every_model
def test_an_admin_sees_every_row(signed_in, model, one_of_each):
    row = model._default_manager.all()[0]

    assert signed_in.get(url(model, "change", row.pk)).status_code == 200


@every_model
def test_only_what_admins_decide_can_be_added(signed_in, model):
    response = signed_in.get(url(model, "add"))

    may_add = model._meta.model_name in EDITABLE - {"tool"}
    assert response.status_code == (200 if may_add else 403)


@every_model
@pytest.mark.parametrize("group", ["submitters", "operators"])
def test_others_are_sent_away(client, model, group):
    client.force_login(factory.make_user("eve", group))

    assert client.get(url(model, "changelist")).status_code == 302


@every_model
def test_staff_without_the_permission_is_refused(client, model):
    eve = factory.make_user("eve", "submitters")
    eve.is_staff = True
    eve.save()
    client.force_login(eve)

    assert client.get(url(model, "changelist")).status_code == 403


@pytest.mark.parametrize("name", ["run", "step", "review", "decision", "agentversion"])
def test_what_was_written_cannot_be_deleted(signed_in, name, one_of_each):
    (model,) = [m for m in OURS if m._meta.model_name == name]
    row = model._default_manager.all()[0]

    assert signed_in.post(url(model, "delete", row.pk)).status_code == 403


def test_guidance_that_a_run_was_given_stays(signed_in, one_of_each):
    given = Guidance.objects.get()
    given.runs.add(Run.objects.all()[0])

    assert signed_in.post(url(Guidance, "delete", given.pk)).status_code == 403


def test_a_group_that_decides_on_an_agent_stays(signed_in):
    desk = Group.objects.create(name="desk")
    Agent.objects.get_or_create(slug="a")[0].deciders.add(desk)

    assert signed_in.post(url(Group, "delete", desk.pk)).status_code == 403


def test_nobody_writes_tasks_into_the_queue(admin_client):
    assert admin_client.get("/admin/django_q/schedule/add/").status_code == 404


# Agents


def test_a_new_agent_begins_with_json_that_can_be_added_to(signed_in):
    form = signed_in.get(url(Agent, "add")).context["adminform"].form

    shown = {name: form[name].value() for name in form.fields}
    assert json.loads(shown["grants"]) == json.loads(shown["limits"]) == {}
    assert json.loads(shown["review_when"]) == []
    assert json.loads(shown["input_schema"]) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("page", ["change", "delete"])
def test_an_address_that_names_no_field_is_as_good_as_one_that_says_nothing(
    admin_client, page
):
    price = Price.objects.create(model="local", input=0, output=0)

    answer = admin_client.get(url(Price, page, price.pk) + "?_to_field=")

    assert answer.status_code == 200


def test_a_group_of_a_number_beyond_all_is_refused(signed_in):
    response = signed_in.post(url(Agent, "add"), agent_form(deciders=["9" * 40]))

    assert "deciders" in errors(response)


def test_saving_an_agent_publishes_a_version(signed_in, boss):
    response = signed_in.post(url(Agent, "add"), agent_form())

    assert response.status_code == 302, errors(response)
    version = AgentVersion.objects.get()
    assert (version.number, version.created_by) == (1, boss)
    assert version.config["grants"] == {"post_letter": {"policy": "always"}}


def test_each_change_is_a_version_and_none_is_without_one(signed_in):
    signed_in.post(url(Agent, "add"), agent_form())
    change = url(Agent, "change", Agent.objects.get().pk)

    signed_in.post(change, agent_form(prompt="You report briefly."))
    signed_in.post(change, agent_form(prompt="You report briefly."))

    assert AgentVersion.objects.count() == 2


def test_the_page_of_an_agent_lists_its_versions(signed_in):
    agent = factory.make_agent()

    page = signed_in.get(url(Agent, "change", agent.pk)).content.decode()

    assert agent.versions.get().digest[:12] in page


def test_an_agent_with_versions_cannot_be_deleted(signed_in):
    agent = factory.make_agent()

    assert signed_in.post(url(Agent, "delete", agent.pk)).status_code == 403


# Tools and prices


@pytest.mark.parametrize("model", [Agent, Tool])
def test_everything_that_may_be_set_is_on_its_page(model):
    shown = {
        name
        for _, options in admin.site._registry[model].fieldsets or ()
        for name in options["fields"]
    }

    editable = {field.name for field in model._meta.get_fields() if is_set(field)}
    assert editable - shown == set()


def is_set(field):
    return field.concrete and field.editable and not field.auto_created


def test_every_registered_tool_has_a_row():
    names = {spec.name for spec in registry.all_specs()} - {"post_letter"}

    assert names <= set(Tool.objects.values_list("name", flat=True))
    assert sync_tools() == 1
    assert sync_tools() == 0


def test_a_tool_can_be_switched_off(signed_in):
    sync_tools()
    change = url(Tool, "change", "post_letter")

    signed_in.post(change, {"policy": "blocked", "settings": ""})

    tool = Tool.objects.get(name="post_letter")
    assert (tool.enabled, tool.policy, tool.settings) == (False, "blocked", {})
