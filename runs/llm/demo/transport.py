"""The demo model as an HTTP transport: chat completions from messages alone."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping

import httpx2

from runs import canonical
from runs.canonical import Json
from runs.llm.base import DEMO_MODEL
from runs.llm.demo import anybody, payments, quarterly, status, vendor
from runs.llm.demo.player import Player, settle_plan
from runs.llm.demo.talk import Talk, Turn, read, values_in
from runs.llm.transport import remaining

LABEL = "demo model"
PLAYERS = (
    quarterly.PLAYER,
    vendor.PLAYER,
    status.PLAYER,
    payments.PLAYER,
    anybody.PLAYER,
)
BYTES_PER_TOKEN = 4
PLAN_ITEM = "plan_item"


class DemoTransport(httpx2.BaseTransport):
    """Answers POST …/chat/completions; takes 0.5 to 1.3 times `latency_s` for it."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self._latency_s = latency_s
        self._outages = Outages()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        content = request.read()
        body = json.loads(content)
        digest = canonical.digest([body.get("messages"), body.get("response_format")])
        self._think(digest, request)
        talk = read(body)
        player = player_of(talk)
        schema = _schema_name(body)
        if not schema and player.meets_outage(talk):
            down = self._outages.answer(digest)
            if down is not None:
                return down
        message = _message(schema, player, talk, body, digest)
        return httpx2.Response(200, json=_completion(message, len(content), digest))

    def _think(self, digest: str, request: httpx2.Request) -> None:
        """The same conversation always takes the same time."""
        wait = self._latency_s * (0.5 + 0.8 * int(digest[:4], 16) / 0xFFFF)
        if wait > remaining():
            raise httpx2.ReadTimeout("The deadline has passed.", request=request)
        time.sleep(wait)


class Outages:
    """What a conversation meets: too many requests, then unavailable, then it works.

    Counts tries by the conversation's digest, the last thousand conversations; a
    worker that starts anew counts anew, and meets the outage once more.
    """

    SIZE = 1000

    def __init__(self) -> None:
        self._tries: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, digest: str) -> httpx2.Response | None:
        """The error of this try; None, and forgotten, when the outage is over."""
        with self._lock:
            tries = self._tries.pop(digest, 0) + 1
            if tries <= 2:
                self._tries[digest] = tries
            while len(self._tries) > self.SIZE:
                self._tries.popitem(last=False)
        if tries == 1:
            wait = {"retry-after": "1"}
            return _error(429, "rate_limit_exceeded", "Too many requests.", wait)
        if tries == 2:
            return _error(503, "unavailable", "The model is overloaded.", {})
        return None


def player_of(talk: Talk) -> Player:
    system = talk.system.lower()
    return next(player for player in PLAYERS if player.phrase in system)


def _schema_name(body: Mapping[str, Json]) -> str:
    wanted = body.get("response_format") or {}
    return str(wanted.get("json_schema", {}).get("name", ""))


def _message(
    schema: str, player: Player, talk: Talk, body: Mapping[str, Json], digest: str
) -> dict[str, Json]:
    if schema == "plan":
        items = [{"text": text} for text in player.plan(talk.task)]
        return {"role": "assistant", "content": canonical.dumps({"items": items})}
    if schema == "confidence_check":
        verdict = quarterly.check(_proposal(body)).as_json()
        return {"role": "assistant", "content": canonical.dumps(verdict)}
    turn = player.turn(talk)
    if not turn.calls:
        turn = settle_plan(talk, turn) or turn
    return _spoken(turn, talk, digest)


def _proposal(body: Mapping[str, Json]) -> Mapping[str, Json]:
    """The newest object with a `tool` in what the check was asked."""
    for message in reversed(body["messages"]):
        for value in values_in(str(message.get("content") or "")):
            if isinstance(value, Mapping) and "tool" in value:
                return value
    return {}


def _spoken(turn: Turn, talk: Talk, digest: str) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": turn.text}
    calls = []
    for number, (name, arguments, item) in enumerate(turn.calls, 1):
        known = talk.tools.get(name, {}).get("properties", {})
        number_it = item and PLAN_ITEM in known
        numbered = {**arguments, PLAN_ITEM: item} if number_it else arguments
        text = json.dumps(numbered, ensure_ascii=False)
        function = {"name": name, "arguments": text}
        call_id = f"call_{digest[:16]}_{number}"
        calls.append({"id": call_id, "type": "function", "function": function})
    return message | ({"tool_calls": calls} if calls else {})


def _completion(message: Mapping[str, Json], size: int, digest: str) -> Json:
    read_tokens = size // BYTES_PER_TOKEN + 1
    written = len(canonical.dumps(message).encode()) // BYTES_PER_TOKEN + 1
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": DEMO_MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": read_tokens,
            "completion_tokens": written,
            "total_tokens": read_tokens + written,
        },
    }


def _error(
    status_code: int, code: str, message: str, headers: Mapping[str, str]
) -> httpx2.Response:
    error = {"message": message, "type": code, "param": None, "code": code}
    return httpx2.Response(status_code, headers=headers, json={"error": error})
