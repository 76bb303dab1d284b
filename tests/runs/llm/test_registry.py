"""One client per provider and process."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from runs.errors import Fatal
from runs.llm import get_client, registry, using
from runs.llm.base import DEMO_MODEL
from runs.llm.openai import OpenAIClient
from tests.support.provider import BASE_URL


@pytest.fixture(autouse=True)
def no_clients() -> Any:
    registry._clients.clear()
    yield
    registry._clients.clear()


def test_it_makes_a_client_once() -> None:
    assert get_client("openai") is get_client("openai")


def test_it_takes_the_settings(settings: Any) -> None:
    settings.AGENTOPS_PROVIDER = "openai"
    settings.OPENAI_BASE_URL = "http://models.example:8000/v1"

    assert get_client().label == "models.example"


def test_an_unknown_provider_is_fatal() -> None:
    with pytest.raises(Fatal, match="openai"):
        get_client("nobody")


def test_a_wrong_switch_is_said_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_LIMIT_FIELD", "tokens")

    with pytest.raises(ImproperlyConfigured, match="OPENAI_LIMIT_FIELD"):
        get_client("openai")


def test_m27_only_fields_of_reasoning_are_sent_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ECHO", "reasoning_content, tool_calls")

    with pytest.raises(ImproperlyConfigured, match="OPENAI_ECHO must be some of"):
        get_client("openai")


def test_a_client_can_be_put_in_place() -> None:
    usual = get_client("openai")
    other = OpenAIClient(BASE_URL, "")

    with using(other, "openai"):
        assert get_client("openai") is other

    assert get_client("openai") is usual


def test_a_child_does_not_use_what_its_parent_made() -> None:
    made_here = id(get_client("openai"))
    ours, theirs = multiprocessing.Pipe()

    def in_the_child(pipe: Connection) -> None:
        before = dict(registry._clients)
        pipe.send(get_client("openai") in before.values())

    child = multiprocessing.get_context("fork").Process(
        target=in_the_child, args=(theirs,)
    )
    child.start()
    child.join(20)

    assert ours.poll(1)
    assert ours.recv() is False
    assert id(get_client("openai")) == made_here


def test_the_demo_model_is_played_whatever_the_installation_asks(
    settings: Any,
) -> None:
    settings.AGENTOPS_PROVIDER = "openai"

    assert registry.client_for(DEMO_MODEL) is get_client("demo")
    assert registry.client_for("gpt-5-mini") is get_client("openai")
