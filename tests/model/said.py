"""What models, tools and people may say in a history: strategies of small values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

from tests.support import replies
from tests.support.replies import Answer

ASKING = ("ask_human", "escalate")
TOOLS = ("look", "browse", "note", "post", "register")
"""What the agent may call; `post` and `register` act for good, the last is traced."""

FAULTS = {
    "busy": replies.error(500),
    "limit": replies.error(429, "rate_limit_exceeded", {"retry-after": "7"}),
    "late": replies.error(504),
    "lost": replies.reset(),
    "silent": replies.hang(),
    "page": replies.raw("<html>no</html>", "text/html"),
    "key": replies.error(401, "invalid_api_key"),
    "money": replies.error(429, "insufficient_quota"),
    "context": replies.error(400, "context_length_exceeded"),
}
"""What an endpoint does instead of an answer."""
ODD = {
    "refused": partial(
        replies.completion, {"role": "assistant", "content": None, "refusal": "No."}
    ),
    "empty": partial(replies.text, ""),
    "cut": partial(replies.text, "I was about to", finish="length"),
    "announced": partial(replies.text, "I call it now.", finish="tool_calls"),
    "long": partial(replies.text, "word " * 4000),
}
"""Answers that are none, or not what they should be."""
PLANS = {"short": ("Do it",), "long": ("Look", "Note", "Post", "Report")}


@dataclass(frozen=True)
class Call:
    """One call of a reply; `form` is how the model writes its arguments."""

    tool: str
    what: str = "a"
    form: str = "right"

    def entry(self, call_id: str) -> dict[str, Any]:
        field = {"ask_human": "question", "escalate": "reason"}.get(self.tool, "what")
        arguments: Any = {field: self.what}
        if self.form == "broken":
            arguments = '{"what": "a'
        elif self.form == "wrong":
            arguments = {field: 3, "more": True}
        odd_id = {"same id": "call_x", "no id": ""}.get(self.form)
        return replies.call(
            self.tool, arguments, odd_id if odd_id is not None else call_id
        )


@dataclass(frozen=True)
class Reply:
    """What the model says to the next request, whatever that asks for.

    `sure` is what a check says; `usage` is honest, absent, or beyond all bounds.
    """

    kind: str = "text"
    calls: tuple[Call, ...] = ()
    sure: float = 0.9
    usage: str = "honest"

    def to(self, body: dict[str, Any]) -> Answer:
        if self.kind in FAULTS:
            return FAULTS[self.kind]
        asked = body.get("response_format", {}).get("json_schema", {}).get("name")
        more: dict[str, Any] = {"usage": _usage(self.usage, body)}
        if self.kind == "garbage" and asked:
            return replies.text("Sure! Here it is.", **more)
        if asked == "plan":
            items = PLANS["long" if self.kind == "calls" else "short"]
            return replies.plan(*items, **more)
        if asked == "confidence_check":
            return replies.check(self.sure, **more)
        if self.kind == "calls":
            place = len(body["messages"])
            entries = [
                call.entry(f"call_{place}_{number}")
                for number, call in enumerate(self.calls)
            ]
            return replies.calls(*entries, text="I go on.", **more)
        return ODD.get(self.kind, partial(replies.text, "Done."))(**more)


def _usage(kind: str, body: dict[str, Any]) -> dict[str, int] | None:
    """As an endpoint counts: no more than 3 bytes a token, or not at all."""
    if kind == "absent":
        return None
    read = len(json.dumps(body["messages"])) // 4
    said = 50 if kind == "honest" else 9_000
    return {"prompt_tokens": read, "completion_tokens": said, "total_tokens": 0}


MOODS = ("fine", "busy", "not sent", "wrong", "fatal", "lost", "vanished", "crash")
"""How a tool does; `lost` has acted and cannot tell, `vanished` has not."""


@dataclass(frozen=True)
class Turn:
    """One act of a driver: what is said to it, how its tool does, seconds it takes."""

    reply: Reply = Reply()
    mood: str = "fine"
    takes_s: int = 0


# ---- strategies

_forms = st.sampled_from(["right"] * 16 + ["broken", "wrong", "same id", "no id"])
_tools = st.sampled_from([*TOOLS, "post", "post", *ASKING, "nothing", "update_plan"])
calls = st.builds(Call, _tools, st.sampled_from("ab"), _forms)
_many = st.lists(calls, min_size=1, max_size=3).map(tuple)
_sure = st.sampled_from([0.9, 0.9, 0.3])
_usages = st.sampled_from(["honest"] * 6 + ["absent", "greedy"])
_odd = ["garbage", *FAULTS, *ODD]
_kinds = st.sampled_from(["calls"] * 44 + ["text"] * 3 + _odd)
said = st.builds(Reply, _kinds, _many, _sure, _usages)

_moods = st.sampled_from(["fine"] * 16 + list(MOODS))
turns = st.builds(Turn, said, _moods, st.sampled_from([0, 0, 0, 1, 20]))
