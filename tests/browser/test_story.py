"""The acceptance story as people live it: a browser, a web server, a worker tree.

Told once in peace and once with the worker tree killed while the run executes and
again while it waits for a person: one mail, one escalation, steps without a gap.
"""

from __future__ import annotations

import email
import email.policy
import json
import re

import pytest
from django.conf import global_settings
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page

from agentops import clock
from reviews.samples import install
from runs.models import Effect, Run, Step
from tests.support.fixtures import PASSWORD
from tests.support.project import LiveProject
from tests.support.wait import wait_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
]

NOTE = (
    "Confirmed: the September spike is accurate due to enterprise deal close."
    " Proceed with sending."
)


@pytest.fixture
def project(live_project, settings) -> LiveProject:
    # The processes check passwords as an installation does, not as quickly as tests.
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    project = live_project(AGENTOPS_DEMO_LATENCY_S="0.15")
    install(project.folder / "var")
    for name, group in (("submitter", "submitters"), ("operator", "operators")):
        person = User.objects.create_user(name, password=PASSWORD)
        person.groups.add(Group.objects.get(name=group))
    return project


@pytest.fixture
def sign_in(project, chromium: Browser):
    """A signed-in page of its own for each person; scripts may not fail on any."""
    complaints: list[str] = []
    contexts = []

    def sign_in(name: str) -> Page:
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{project.url}/accounts/login/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "login" not in url)
        return page

    yield sign_in
    for context in contexts:
        context.close()
    assert complaints == []


def submit(page: Page, url: str) -> Run:
    page.goto(f"{url}/runs/new/?agent=quarterly-metrics")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/"))
    return Run.objects.get()


def approve(page: Page, url: str) -> None:
    page.goto(f"{url}/reviews/")
    page.get_by_role("link", name="Send e-mail to analytics@company.com").click()
    page.locator("[data-go='open']").click()
    page.wait_for_url(re.compile(r"/reviews/[0-9a-f-]{36}/"))
    page.keyboard.press("a")
    page.get_by_role("textbox", name="Note to the agent").fill(NOTE)
    page.keyboard.press("Control+Enter")
    page.get_by_text("Approved").first.wait_for()


def summaries(project: LiveProject) -> list[email.message.EmailMessage]:
    """The mails of the story; notices to operators are mails as well."""
    mails = [
        email.message_from_string(text, policy=email.policy.default)
        for text in project.mails()
    ]
    return [mail for mail in mails if mail["Subject"] == "Q3 2024 Revenue Summary"]


def metrics(page: Page, url: str, run: Run) -> dict[str, object]:
    return json.loads(page.request.get(f"{url}/runs/{run.pk}/metrics.json").text())


def assert_it_went_right(project: LiveProject, run: Run, page: Page) -> None:
    run.refresh_from_db()
    numbers = list(Step.objects.filter(run=run).values_list("number", flat=True))
    (mail,) = summaries(project)
    assert run.state == "completed"
    assert mail["To"] == "analytics@company.com"
    assert "37.3" in str(mail)
    assert NOTE in run.output
    assert numbers == list(range(1, len(numbers) + 1))
    assert [effect.status for effect in Effect.objects.all()] == ["done"]
    assert metrics(page, project.url, run)["human_escalations"] == 1
    assert run.transitions.filter(to_state="completing").count() == 1


def test_the_story_through_the_browser(project, sign_in):
    submitter, operator = sign_in("submitter"), sign_in("operator")

    run = submit(submitter, project.url)
    submitter.get_by_text("Low confidence").first.wait_for(timeout=20_000)
    approve(operator, project.url)
    submitter.get_by_text("Completed").first.wait_for(timeout=20_000)

    assert_it_went_right(project, run, submitter)


def test_the_story_with_the_worker_tree_killed_on_the_way(project, sign_in):
    submitter, operator = sign_in("submitter"), sign_in("operator")

    run = submit(submitter, project.url)
    wait_until(
        lambda: Step.objects.filter(run=run).count() >= 4,
        timeout_s=20,
        what="some steps",
    )
    project.kill_tree("worker")
    at_the_kill = Step.objects.filter(run=run).count()
    project.start_worker()
    submitter.get_by_text("Low confidence").first.wait_for(timeout=40_000)
    project.kill_tree("worker")
    approve(operator, project.url)
    project.start_worker()
    submitter.get_by_text("Completed").first.wait_for(timeout=40_000)

    assert at_the_kill < 10
    assert clock.now() > run.created_at
    assert_it_went_right(project, run, submitter)
