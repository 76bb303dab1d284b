"""Kept guidance: who gets it, from when until when, and what admins do with it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from agentops import clock
from runs import guidance, services
from runs.models import Guidance
from tests.support import factory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("letters")]


@pytest.fixture
def ana():
    return factory.make_user("ana", "admins")


@pytest.fixture
def agent():
    return factory.make_agent()


def keep(ana, text="Mind the rounding.", **fields):
    return guidance.keep(text, by=ana, at=clock.now(), **fields)


def given(agent, ana):
    return services.start(agent=agent, by=ana, task="Post it.").guidance


def test_a_run_starts_with_what_is_kept_for_its_agent_and_its_tools(agent, ana):
    keep(ana, "One\r\nand the same.", agent=agent)
    keep(ana, "Two.", tool="post_letter")
    keep(ana, "For others.", agent=factory.make_agent())
    keep(ana, "For another tool.", tool="send_email")

    run = services.start(agent=agent, by=ana, task="Post it.")

    assert run.guidance == ["One and the same.", "Two."]
    assert "one and the same." in run.search_text
    assert run.guided_by.count() == 2


def test_a_tool_that_is_blocked_brings_no_guidance(ana):
    agent = factory.make_agent(grants={"post_letter": {"policy": "blocked"}})
    keep(ana, tool="post_letter")

    assert given(agent, ana) == []


def test_it_ends_at_its_time_and_when_it_is_switched_off(agent, ana, advance_clock):
    keep(ana, "For a day.", agent=agent, until=clock.now() + timedelta(days=1))
    off = keep(ana, "Off.", agent=agent)
    off.enabled = False
    off.save()

    before = given(agent, ana)
    advance_clock(86_400)

    assert (before, given(agent, ana)) == (["For a day."], [])


def test_a_run_keeps_what_it_started_with(agent, ana):
    row = keep(ana, agent=agent)
    run = services.start(agent=agent, by=ana, task="Post it.")

    Guidance.objects.filter(pk=row.pk).update(text="Other.", enabled=False)

    run.refresh_from_db()
    assert run.guidance == ["Mind the rounding."]


# Admins


@pytest.fixture
def boss(client, ana):
    ana.is_staff = True
    ana.save()
    client.force_login(ana)
    return client


def form(**fields):
    values = {"agent": "", "tool": "", "text": "Be brief.", "enabled": "on"}
    values |= {"expires_at_0": "", "expires_at_1": ""}
    return values | fields


def test_who_adds_it_owns_it(boss, agent, ana):
    boss.post(reverse("admin:runs_guidance_add"), form(agent=agent.pk))

    row = Guidance.objects.get()
    assert (row.owner, row.agent, row.tool) == (ana, agent, "")


def test_it_is_for_an_agent_or_for_a_tool(boss, agent):
    address = reverse("admin:runs_guidance_add")

    for scope in ({}, {"agent": agent.pk, "tool": "post_letter"}):
        page = boss.post(address, form(**scope)).content.decode()
        assert "Choose an agent or a tool, one of the two." in page

    assert not Guidance.objects.exists()


def test_too_much_is_refused(boss, agent):
    sent = form(agent=agent.pk, text="x" * 2001)

    page = boss.post(reverse("admin:runs_guidance_add"), sent).content.decode()

    assert "At most 2,000 characters." in page


def test_the_list_says_how_often_it_was_used(boss, agent, ana):
    keep(ana, agent=agent)
    given(agent, ana)
    given(agent, ana)

    page = boss.get(reverse("admin:runs_guidance_changelist")).content.decode()

    assert "in 2 runs since" in page


def test_the_agents_page_lists_it(boss, agent, ana):
    keep(ana, "Mind <b>the rounding.", agent=agent)

    page = boss.get(reverse("admin:runs_agent_change", args=[agent.pk]))

    assert "Mind &lt;b&gt;the rounding." in page.content.decode()


def test_the_runs_page_shows_what_it_started_with(boss, agent, ana):
    keep(ana, "Mind <b>the rounding.", agent=agent)
    run = services.start(agent=agent, by=ana, task="Post it.")

    page = boss.get(reverse("runs:detail", args=[run.pk])).content.decode()

    assert "Guidance in force at the start" in page
    assert "Mind &lt;b&gt;the rounding." in page
