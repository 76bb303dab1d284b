"""The client over the real SDK, against a scripted endpoint."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from runs.errors import Fatal, NotSent, Refused, StepError, Transient
from runs.llm.base import Message, Request
from runs.llm.openai import OpenAIClient
from tests.support import replies
from tests.support.provider import BASE_URL, ScriptedProvider
from tests.support.replies import text
from tests.support.wait import cut_short

KEY = "sk-test-only-0123456789"

REQUEST = Request(
    model="scripted-model",
    messages=[{"role": "user", "content": "Say hello."}],
    max_output_tokens=50,
    deadline_s=5.0,
)
TOOL = {
    "type": "function",
    "function": {"name": "echo", "parameters": {"type": "object", "properties": {}}},
}
SCHEMA: dict[str, Any] = {
    "name": "plan",
    "schema": {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ["items"],
        "additionalProperties": False,
    },
}


def client(provider: ScriptedProvider, **options: Any) -> OpenAIClient:
    return OpenAIClient(BASE_URL, KEY, transport=provider.transport, **options)


def failure(client: OpenAIClient, request: Request = REQUEST) -> StepError:
    with pytest.raises(StepError) as caught:
        client.complete(request)
    return caught.value


def test_it_sends_only_the_fields_that_are_set() -> None:
    provider = ScriptedProvider(text("Hello."))

    reply = client(provider).complete(REQUEST)

    assert reply.content == "Hello."
    assert provider.bodies == [
        {
            "model": "scripted-model",
            "messages": [{"role": "user", "content": "Say hello."}],
            "max_completion_tokens": 50,
        }
    ]
    provider.assert_clean()


def test_it_sends_tools_and_a_strict_schema() -> None:
    provider = ScriptedProvider(text("{}"))

    client(provider).complete(replace(REQUEST, tools=[TOOL], schema=SCHEMA))

    (body,) = provider.bodies
    assert body["tools"] == [TOOL]
    assert body["response_format"]["json_schema"] == {"strict": True, **SCHEMA}
    provider.assert_clean()


def test_a10_a_server_may_want_max_tokens_and_no_schema() -> None:
    provider = ScriptedProvider(text("{}"), more_fields=frozenset({"max_tokens"}))

    client(provider, limit_field="max_tokens", schemas=False).complete(
        replace(REQUEST, schema=SCHEMA)
    )

    assert set(provider.bodies[0]) == {"model", "messages", "max_tokens"}


def test_it_leaves_the_messages_alone() -> None:
    messages: Sequence[Message] = ({"role": "user", "content": "x", "odd": None},)
    provider = ScriptedProvider(text("ok"), strict=False)

    client(provider).complete(replace(REQUEST, messages=messages))

    assert provider.requests[0].messages == list(messages)


def test_it_makes_one_request_whatever_comes_back() -> None:
    overloaded = replies.error(500, headers={"x-should-retry": "true"})
    provider = ScriptedProvider(then=overloaded)

    assert type(failure(client(provider))) is Transient
    assert len(provider.requests) == 1


def test_a18_x_should_retry_false_is_transient_all_the_same() -> None:
    provider = ScriptedProvider(replies.error(500, headers={"x-should-retry": "false"}))

    assert type(failure(client(provider))) is Transient


def test_a01_it_passes_on_how_long_to_wait() -> None:
    provider = ScriptedProvider(replies.error(429, headers={"retry-after": "1"}))

    found = failure(client(provider))

    assert isinstance(found, Transient)
    assert found.retry_after == 1


def test_a08_the_key_is_nowhere_in_an_error() -> None:
    provider = ScriptedProvider(
        replies.error(401, "invalid_api_key", message=f"Incorrect: {KEY}.")
    )

    found = failure(client(provider))

    assert type(found) is Fatal
    assert KEY not in repr(found) + str(vars(found))
    assert found.__cause__ is None
    assert found.__context__ is None


def test_its_errors_survive_pickling() -> None:
    provider = ScriptedProvider(
        replies.error(429, headers={"retry-after": "2"}), replies.reset(), text("")
    )
    asked = client(provider)

    copies = [pickle.loads(pickle.dumps(failure(asked))) for _ in range(2)]  # noqa: S301

    assert [type(copy) for copy in copies] == [Transient, Transient]
    assert copies[0].retry_after == 2
    assert copies[1].maybe_billed


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("\ud800", id="surrogate"),
        pytest.param(float("nan"), id="nan"),
        pytest.param({1, 2}, id="set"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param(10**5000, id="5000 digits"),
    ],
)
def test_what_cannot_be_sent_is_fatal(value: Any) -> None:
    provider = ScriptedProvider(then=text("ok"), strict=False)
    messages = [{"role": "user", "content": value}]

    found = failure(client(provider), replace(REQUEST, messages=messages))

    assert type(found) is Fatal
    assert provider.requests == []


def test_a_refusal_comes_through() -> None:
    refusing = replies.completion({"content": None, "refusal": "No."})

    assert type(failure(client(ScriptedProvider(refusing)))) is Refused


def test_its_label_is_the_host_or_what_it_was_given() -> None:
    provider = ScriptedProvider()

    assert client(provider).label == "provider.test"
    assert client(provider, label="demo model").label == "demo model"


def test_no_key_is_fine_for_a_local_server() -> None:
    provider = ScriptedProvider(text("ok"))

    OpenAIClient(BASE_URL, "", transport=provider.transport).complete(REQUEST)

    assert provider.requests[0].headers["authorization"] == "Bearer none"


def test_nobody_listening_is_known_as_not_sent() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    asked = OpenAIClient(BASE_URL, KEY, transport=httpx2.MockTransport(refuse))

    assert type(failure(asked)) is NotSent


def test_a13_a_gateways_page_is_transient() -> None:
    page = replies.raw("<html><h1>Bad gateway</h1></html>", "text/html", 502)

    found = failure(client(ScriptedProvider(page)))

    assert type(found) is Transient
    assert "Bad gateway" in found.message
    assert "<" not in found.message


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "text/plain"])
def test_a14_a_200_that_is_no_json_is_transient(kind: str) -> None:
    found = failure(client(ScriptedProvider(replies.raw("data: x", kind))))

    assert type(found) is Transient


def test_a14_json_under_another_name_is_read() -> None:
    answer = replies.raw(text("ok").body, "text/plain")

    assert client(ScriptedProvider(answer)).complete(REQUEST).content == "ok"


@pytest.mark.parametrize("answer", [replies.hang(), replies.drip(text("x" * 500))])
def test_a16_a_call_ends_at_its_deadline(answer: replies.Answer) -> None:
    provider = ScriptedProvider(answer, text("and on"))
    request = replace(REQUEST, deadline_s=0.4)

    with provider.serve() as base_url:
        asked = OpenAIClient(base_url, KEY)
        started = time.monotonic()
        with cut_short():
            found = failure(asked, request)
        took = time.monotonic() - started
        afterwards = asked.complete(REQUEST)
        asked.close()

    assert isinstance(found, Transient)
    assert found.maybe_billed
    assert "0.4 s" in found.message
    assert took > 0.35
    assert afterwards.content == "and on"


def test_a_cut_connection_may_have_been_billed() -> None:
    provider = ScriptedProvider(replies.reset(), text("and on"))

    with provider.serve() as base_url:
        asked = OpenAIClient(base_url, KEY)
        found = failure(asked)
        afterwards = asked.complete(REQUEST)
        asked.close()

    assert isinstance(found, Transient)
    assert found.maybe_billed
    assert afterwards.content == "and on"


def test_threads_share_the_client_and_nothing_else() -> None:
    provider = ScriptedProvider(then=lambda body: text(body["messages"][0]["content"]))
    said: dict[int, str] = {}

    def ask(number: int) -> None:
        message = {"role": "user", "content": f"number {number}"}
        said[number] = asked.complete(replace(REQUEST, messages=[message])).content

    with provider.serve() as base_url:
        asked = OpenAIClient(base_url, KEY)
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        asked.close()

    assert said == {n: f"number {n}" for n in range(20)}


def test_a_redirect_is_followed_with_the_body_and_without_the_key() -> None:
    there = ScriptedProvider(text("moved"))
    with there.serve() as target:
        moved = replies.Answer(
            status=307, headers={"location": f"{target}/chat/completions"}
        )
        here = ScriptedProvider(moved)
        with here.serve() as base_url:
            asked = OpenAIClient(base_url, KEY)
            reply = asked.complete(REQUEST)
            asked.close()

    assert reply.content == "moved"
    assert there.bodies == here.bodies
    assert "authorization" not in there.requests[0].headers


def test_messages_that_are_json_already_are_sent_as_they_are() -> None:
    provider = ScriptedProvider(text("ok"), text("ok"))
    asked = client(provider)
    encoded = ['{"role":"user","content":"größer"}']

    asked.complete(replace(REQUEST, encoded=encoded))
    asked.complete(replace(REQUEST, messages=[json.loads(encoded[0])]))

    assert provider.bodies[0] == provider.bodies[1]
    assert provider.requests[0].messages[0]["content"] == "größer"
    assert provider.requests[0].headers["content-type"] == "application/json"
