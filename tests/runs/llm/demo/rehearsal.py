"""The demo model in a conversation as the engine would lead it, without an engine.

Reading tools are the real ones, on a sample database; what asks or acts stops the
rehearsal, and the test answers in the place of people.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx2

from reviews.samples import TABLES, Table, make
from runs import confidence, conversation
from runs.conversation import Message
from runs.errors import InvalidCall, Transient
from runs.llm import demo
from runs.llm.base import Reply, Request
from runs.llm.openai import OpenAIClient
from runs.tools import registry, results
from runs.tools.base import Context, Deadline
from runs.tools.calculate import calculate
from runs.tools.plan_item import take_plan_item
from runs.tools.query_database import query_database
from runs.tools.update_plan import update_plan
from tests.support import strict

READING = {spec.name: spec for spec in (query_database, calculate, update_plan)}
SEND_EMAIL = {
    "type": "function",
    "function": {
        "name": "send_email",
        "description": "Send an e-mail.",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "array", "items": {"type": "string"}},
                "subject": {"type": "string"},
                "body_markdown": {"type": "string"},
                "plan_item": {"type": "integer"},
            },
            "required": ["to", "subject", "body_markdown"],
        },
    },
}


class StrictDemo(httpx2.BaseTransport):
    """The demo model behind the strictest reading of each request."""

    def __init__(self) -> None:
        self._inner = demo.DemoTransport()
        self.problems: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.problems.extend(strict.problems(json.loads(request.read())))
        return self._inner.handle_request(request)


class Call:
    """A call that waits for an answer."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.id: str = entry["id"]
        self.name: str = entry["function"]["name"]
        written = json.loads(entry["function"]["arguments"])
        self.arguments, self.item = take_plan_item(written)


class Rehearsal:
    """`texts` is what the model said, `calls` what it called, in order."""

    def __init__(
        self,
        agent: dict[str, Any],
        folder: Path,
        tables: dict[str, Table] | None = None,
        *,
        task: str = "",
        plan: bool = True,
        **inputs: Any,
    ) -> None:
        self.url = f"sqlite:///{folder / 'samples.sqlite3'}"
        make(self.url, {**TABLES, **(tables or {})})
        self.transport = StrictDemo()
        self.client = OpenAIClient("http://demo.test/v1", "", self.transport)
        self.agent = agent
        self.task = task or agent["task_template"].format(**_defaults(agent) | inputs)
        self.messages = conversation.opening(agent["prompt"], self.task)
        self.calls: list[Call] = []
        self.texts: list[str] = []
        self.recent: list[tuple[str, str]] = []
        self.retries: list[Transient] = []
        self.items: list[str] = []
        if plan:
            self._plan()

    @property
    def tools(self) -> list[Any]:
        """All that is granted, as schemas."""
        reading = [registry.schema_for_model(s) for s in READING.values()]
        granted = self.agent["grants"]
        asking = [n for n in ("ask_human", "escalate") if n in granted]
        reading += [registry.schema_for_model(registry.get(n)) for n in asking]
        return [*reading, SEND_EMAIL] if "send_email" in granted else reading

    def _plan(self) -> None:
        asked = [*self.messages, conversation.user(conversation.PLAN_INSTRUCTION)]
        reply = self._ask(asked, schema=conversation.PLAN_SCHEMA)
        self.items = [item["text"] for item in json.loads(reply.content)["items"]]
        self.messages += conversation.plan_messages({"content": reply.content})

    def go_on(self) -> Call | str:
        """Until something asks or acts (that call), or the final answer (its text)."""
        for _ in range(20):
            waiting = self._turn()
            if waiting is None:
                return self.texts[-1]
            if isinstance(waiting, Call):
                return waiting
        raise AssertionError("the model never comes to an end")

    def _turn(self) -> Call | bool | None:
        reply = self._ask(self.messages, tools=self.tools)
        calls = [
            {"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.calls
        ]
        message = conversation.assistant({"content": reply.content, "calls": calls})
        assert message is not None
        self.messages.append(message)
        self.texts.append(reply.content)
        waiting = None
        for entry in message.get("tool_calls", []):
            waiting = self._called(Call(entry)) or waiting
        return waiting or (True if calls else None)

    def _called(self, call: Call) -> Call | None:
        self.calls.append(call)
        spec = READING.get(call.name)
        if spec is None:
            return call
        settings = {"database": self.url}
        context = Context("run", 1, "k", Deadline.after(10), settings=settings)
        try:
            value = spec.call(spec.validate(call.arguments), context)
        except InvalidCall as error:
            self.answer(call, f"Error: {error.message}")
        else:
            self.answer(call, results.for_model(value, 16_000))
        return None

    def answer(self, call: Call, text: str) -> None:
        self.recent = [*self.recent[-4:], (call.name, text)]
        self.messages.append(conversation.tool(call.id, text))

    def say(self, text: str) -> None:
        self.messages.append(conversation.from_person(text))

    def remind(self, *open_items: int) -> None:
        self.messages.append(conversation.user(conversation.open_items(open_items)))

    def sent(self, call: Call) -> None:
        self.answer(call, '{"sent": true, "message_id": "<k@agentops>"}')

    def check(self, call: Call) -> dict[str, Any]:
        """The confidence check of a call, read as strictly as the engine does."""
        rules = self.agent["review_when"]
        asked = confidence.messages(
            tool=call.name,
            arguments=call.arguments,
            task=self.task,
            rules=rules,
            recent=self.recent,
        )
        reply = self._ask(asked, schema=confidence.SCHEMA)
        return confidence.read(reply.content, len(rules))

    def _ask(self, messages: list[Message], **more: Any) -> Reply:
        request = Request("demo", messages, 2000, 10.0, **more)
        for _ in range(5):
            try:
                return self.client.complete(request)
            except Transient as error:
                self.retries.append(error)
                time.sleep(0)
        raise AssertionError("the outage never ends")


def _defaults(agent: dict[str, Any]) -> dict[str, Any]:
    properties = agent["input_schema"]["properties"]
    return {name: schema["default"] for name, schema in properties.items()}
