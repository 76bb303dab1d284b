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
from tests.support import factory

pytestmark = pytest.mark.django_db

OURS = [
    model
    for model in admin.site._registry
    if model._meta.app_label in {"runs", "reviews"}
]
EDITABLE = {"agent", "tool", "price", "guidance"}
every_model = pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.model_name)


@pytest.fixture(autouse=True)
def letters():
    with registry.added(factory.LETTER):
        yield


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


def url(model, page, *args):
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"
    return reverse(name, args=args)


def agent_form(agent=None, **fields):
    """What a browser posts for an agent."""
    values = {
        "name": "Reporter",
        "slug": "reporter",
        "prompt": "You report.",
        "max_output_tokens": 2000,
        "context_window": 128_000,
        "enabled": "on",
        "grants": '{"post_letter": {"policy": "always"}}',
        "threshold": "0.75",
        "review_when": "[]",
        "limits": "{}",
        "input_schema": '{"type": "object", "properties": {}}',
        "has_reviewer": "on",
        "versions-TOTAL_FORMS": 0,
        "versions-INITIAL_FORMS": 0,
    }
    return values | fields


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


@pytest.mark.parametrize("text", ["[" * 20_000, "9" * 5000])
def test_json_that_nobody_can_read_is_refused(signed_in, text):
    response = signed_in.post(url(Agent, "add"), agent_form(grants=text))

    assert response.status_code == 200
    assert "grants" in _errors(response)


@pytest.mark.parametrize("page", ["change", "delete"])
def test_an_address_that_names_no_field_is_as_good_as_one_that_says_nothing(
    admin_client, page
):
    price = Price.objects.create(model="local", input=0, output=0)

    answer = admin_client.get(url(Price, page, price.pk) + "?_to_field=")

    assert answer.status_code == 200


def test_a_group_of_a_number_beyond_all_is_refused(signed_in):
    response = signed_in.post(url(Agent, "add"), agent_form(deciders=["9" * 40]))

    assert "deciders" in _errors(response)


def test_saving_an_agent_publishes_a_version(signed_in, boss):
    response = signed_in.post(url(Agent, "add"), agent_form())

    assert response.status_code == 302, _errors(response)
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


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("grants", '{"fly": {}}', "no tool called fly"),
        ("grants", '{"post_letter": {"policy": "maybe"}}', "policy must be one of"),
        ("grants", '{"post_letter": {"threshold": 2}}', "from 0 to 1"),
        ("grants", '{"post_letter": {"threshold": "NaN"}}', "from 0 to 1"),
        ("grants", '{"post_letter": {"treshold": 0.5}}', "no setting treshold"),
        ("grants", '{"post_letter": {"settings": []}}', "settings must be an object"),
        ("grants", '{"post_letter": "always"}', "must be an object"),
        ("grants", "[]", "must be an object"),
        ("grants", "{", "valid JSON"),
        ("review_when", '["", "x"]', "list of rules"),
        ("review_when", '"x"', "list of rules"),
        ("limits", '{"steps": 0}', "more than 0"),
        ("limits", '{"money": "-1"}', "more than 0"),
        ("limits", '{"wishes": 3}', "no budget called wishes"),
        ("limits", "[]", "object of budgets"),
        ("input_schema", "[]", "JSON Schema"),
        ("input_schema", '{"type": "object", "properties": 3}', "no JSON Schema"),
        ("threshold", "1.5", "less than or equal to 1"),
        ("max_output_tokens", "0", "more than 0"),
        ("context_window", "100", "more than the longest output"),
        ("prompt", "x" * 100_001, "at most 100000 characters (it has 100001)"),
        ("task_template", "x" * 20_001, "at most 20000 characters"),
        ("description", "x" * 2_001, "at most 2000 characters"),
        ("grants", "x" * 100_001, "at most 100000 characters"),
        ("limits", " " * 100_001, "at most 100000 characters"),
        ("input_schema", '{"title": "' + "x" * 100_000, "at most 100000 characters"),
        ("review_when", json.dumps(["x", "x" * 501]), "Rule 2 has 501 characters"),
        ("review_when", json.dumps(["x"] * 51), "51 rules, at most 50"),
    ],
    ids=lambda value: value[:20],
)
def test_an_agent_that_could_not_work_is_refused(signed_in, field, value, words):
    response = signed_in.post(url(Agent, "add"), agent_form(**{field: value}))

    assert response.status_code == 200
    assert words in _errors(response)[field]
    assert Agent.objects.count() == 0


def test_an_agent_may_have_long_texts(signed_in):
    longest = {
        "prompt": "x" * 100_000,
        "task_template": "x" * 20_000,
        "description": "x" * 2_000,
        "review_when": json.dumps(["x" * 500] * 50),
    }

    response = signed_in.post(url(Agent, "add"), agent_form(**longest))

    assert response.status_code == 302, _errors(response)
    assert len(Agent.objects.get().prompt) == 100_000


def test_the_task_names_only_fields_of_the_form(signed_in):
    schema = {"type": "object", "properties": {"quarter": {"type": "string"}}}
    fields = {"input_schema": json.dumps(schema), "task_template": "{quarter} {year}"}

    response = signed_in.post(url(Agent, "add"), agent_form(**fields))

    assert "called year" in _errors(response)["task_template"]


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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("timeout_s", "0"), ("attempts", "0"), ("threshold", "2")],
        *[("settings", "[1]"), ("settings", json.dumps({"a": "x" * 100_000}))],
    ],
    ids=lambda value: value[:20],
)
def test_a_tool_keeps_to_bounds(signed_in, field, value):
    sync_tools()

    response = signed_in.post(
        url(Tool, "change", "post_letter"), {"enabled": "on", field: value}
    )

    assert field in _errors(response)


def test_a_setting_that_its_tool_does_not_know_is_refused(signed_in):
    sync_tools()
    change = url(Tool, "change", "send_email")
    misspelt = '{"allow_domain": ["company.com"]}'

    response = signed_in.post(change, {"enabled": "on", "settings": misspelt})

    assert "settings" in _errors(response)


def test_a_price_may_be_nothing_but_not_less(signed_in):
    row = {"model": "local", "input": "0", "cached": "", "output": "0"}

    signed_in.post(url(Price, "add"), row)
    response = signed_in.post(url(Price, "add"), row | {"model": "x", "input": "-1"})

    assert Price.objects.get().model == "local"
    assert "input" in _errors(response)


def _errors(response):
    """The form's errors as one text a field."""
    form = response.context["adminform"].form
    return {name: " ".join(words) for name, words in form.errors.items()}
