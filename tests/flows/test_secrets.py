"""Secrets planted wherever a text comes from are found nowhere it goes to."""

from __future__ import annotations

import logging
import logging.config
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.urls import reverse

from agentops import log, redaction
from reviews import outbox
from reviews.models import Note, Review, Route
from runs.errors import Fatal, InvalidCall, Transient
from runs.models import Effect
from runs.services import start
from runs.tools import registry
from runs.tools.base import Effect as EffectKind
from runs.tools.base import tool
from runs.values import VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support import acts
from tests.support.advance import provider, settle
from tests.support.canaries import LETTERS, SHAPES
from tests.support.everywhere import pages, rows
from tests.support.replies import calls, check, error, plan, text

pytestmark = pytest.mark.django_db

INSTALLED = "hunter2-" + LETTERS[::-1]
"""Of no known shape: only its value gives it away."""


def planted(source: str) -> str:
    """A key of its own for each source, and the installation's."""
    place = "".join(c for c in source.title() if c.isalpha())
    return f"{SHAPES['openai']}{place} and {INSTALLED}"


@tool(effect=EffectKind.READ)
def leaky(how: str) -> dict[str, object]:
    """Bring a secret back, one way or another."""
    raised = {"invalid": InvalidCall, "busy": Transient, "broken": Fatal}.get(how)
    if raised:
        raise raised(planted(f"tool {how}"))
    if how == "bug":
        raise KeyError(planted("tool bug"))
    return {"rows": [[planted("result")]], planted("name of a field"): 1}


@pytest.fixture
def installed(monkeypatch, tmp_path, settings):
    """The installation's own secret, and a folder for its files."""
    monkeypatch.setenv("SHOP_API_KEY", INSTALLED)
    settings.VAR_DIR = tmp_path
    redaction.forget()
    with registry.added(leaky):
        yield tmp_path
    monkeypatch.undo()
    redaction.forget()


@pytest.fixture
def logged():
    """All that is written to the log, in both formats."""
    root, out = logging.getLogger(), StringIO()
    made = logging.config.DictConfigurator(log.config())
    handlers = []
    for config in log.config()["formatters"].values():
        handler = logging.StreamHandler(out)
        handler.addFilter(log.ContextFilter())
        handler.setFormatter(made.configure_formatter(config))
        handlers.append(handler)
        root.addHandler(handler)
    level, root.level = root.level, logging.INFO
    yield out.getvalue
    root.level = level
    for handler in handlers:
        root.removeHandler(handler)


SCRIPT = [
    plan(f"Use {planted('plan')}"),
    error(500, message=f"no: {planted('endpoint')}"),
    calls(
        ("leaky", {"how": "fine", "plan_item": 1}), text=f"I have {planted('words')}"
    ),
    calls(("leaky", {"how": "invalid"}), (planted("tool"), {})),
    calls(("leaky", {"how": "once more"})),
    calls(("leaky", {"how": planted("argument")})),
    calls(("leaky", {"how": "and again"})),
    calls(("post", {"what": f"the key {planted('act')}"})),
    calls(("post", {"what": "a letter"})),
    check(
        0.3,
        rationale=planted("rationale"),
        will_do=planted("will do"),
        side_effects=[planted("side effect")],
    ),
    calls(("ask_human", {"question": f"May I use {planted('question')}?"})),
    text(f"Done with {planted('answer')}"),
    check(0.9),
]


def play(agent, asker, boss, client) -> tuple[object, object]:
    """A whole run: it fails, waits, parks twice, is decided on in the browser."""
    with provider(*SCRIPT) as model:
        task = f"Look at {planted('task')}"
        run = settle(start(agent=agent, by=asker, task=task))
        outbox.deliver()
        act_on(client, Review.objects.open().get(run=run))
        run = settle(run)
        outbox.deliver()
        decide(run, boss, VerdictKind.ANSWER, text=planted("a person's answer"))
        run = settle(run)
        outbox.deliver()
    return run, model


def act_on(client, review: Review) -> None:
    """As a person does: a note, a draft, an edit that is refused, an approval."""
    own = {"item_version": review.version, "digest": review.digest}

    def send(name: str, *args: str, **fields: str) -> None:
        address = reverse(f"reviews:{name}", args=[review.pk, *args])
        client.post(address, own | fields)

    send("notes", text=planted("note"))
    send("draft", "reject", text=planted("draft"))
    send("decide", "edit", **{"arguments.what": planted("edit")})
    send("decide", "approve", note=planted("approval"))


@pytest.fixture
def story(installed, logged, boss, client, services, configured):
    configured(notify_every_medium_s=0.0, notify_every_low_s=0.0)
    client.force_login(boss)
    boss.email = "boss@example.com"
    boss.save()
    Route.objects.create(person=boss, channel="webhook", address=f"{services.url}/x")
    Route.objects.create(person=boss, channel="email", address="boss@example.com")
    grants = {name: {"policy": "ask_below"} for name in ("post", "leaky")}
    grants |= {"ask_human": {"policy": "auto"}}
    agent = make_agent(grants=grants, plan_first=True)
    run, model = play(agent, User.objects.create_superuser("asker"), boss, client)
    return run, model, services, logged


def test_a_planted_secret_is_found_nowhere(story, client, installed):
    run, model, services, logged = story

    found = {
        "rows": [f"{table}: {row}" for table, row in rows()],
        "pages": [f"{address}: {page}" for address, page in pages(client)],
        "mails": [str(sent.message()) for sent in mail.outbox],
        "notices": [str(body) for body in services.bodies],
        "requests": [str(request.body) for request in model.requests],
        "log": [logged()],
        "files": [f.read_text() for f in Path(installed).rglob("*") if f.is_file()],
    }

    assert run.state == "completed"
    assert (len(found["mails"]) > 0, len(found["notices"]) > 0) == (True, True)
    leaked = [
        (place, near(text))
        for place, texts in found.items()
        for text in texts
        if SHAPES["openai"] in text or INSTALLED in text
    ]
    assert leaked == []


def near(text: str) -> str:
    """The name of what leaked, with a little of what is around it."""
    at = max(text.find(SHAPES["openai"]), text.find(INSTALLED))
    return text[max(0, at - 80) : at + 80]


def test_the_act_ran_once_as_it_was_approved(story):
    run = story[0]

    assert run.state == "completed"
    assert [act["what"] for act in acts.acts()] == ["a letter"]
    assert Effect.objects.get().status == "done"
    assert Note.objects.get().text.startswith("[hidden: an API key] and [hidden: a sec")


def test_a_call_with_a_hidden_piece_is_fed_back_and_never_runs(story):
    run, model, _, _ = story

    results = [r for request in model.requests[-1:] for r in request.tool_results]
    refused = [r for r in results if "is gone and cannot be passed on" in r]

    assert len(refused) == 2
    assert "[hidden: an API key]" in run.output
