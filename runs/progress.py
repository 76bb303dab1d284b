"""What the steps of a run amount to so far: a fold over them. Pure.

`Progress.take(step)` brings in one finished step; loading a run is taking all of
them, and a driver goes on taking one at a time, so no step ever costs a walk over
the history. Whatever depends on settings is stored with the step when it happens,
so old prompts stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs import conversation, undone, verdicts
from runs.canonical import Json, digest, size
from runs.conversation import Message
from runs.states import StepKind, StepStatus
from runs.tools.base import IRREVERSIBLE
from runs.turns import Approval, PendingCall, Turns
from runs.values import StepValue

__all__ = ["UPDATE_PLAN", "Approval", "PendingCall", "Progress", "repeat_key"]

UPDATE_PLAN = "update_plan"


@dataclass
class Progress(Turns):
    """The conversation as it stands, with what the last steps were."""

    last: StepValue | None = None
    last_model: StepValue | None = None
    compacted_at: int = 0

    @classmethod
    def of(cls, opening: Sequence[Message], steps: Sequence[StepValue]) -> Progress:
        progress = cls()
        for message in opening:
            progress.add(message, 0)
        for step in undone.standing(steps):
            progress.take(step)
        return progress

    def take(self, step: StepValue) -> None:
        """Bring in a step; an open one changes nothing, a skipped one says nothing."""
        if step.status.is_open:
            return
        self.last = step
        if step.status is StepStatus.SKIPPED:
            return
        _TAKE[step.kind](self, step)
        if step.plan_item:
            self.plan_item = max(self.plan_item, step.plan_item)

    # ---- plan and model

    def _take_plan(self, step: StepValue) -> None:
        response = _response(step)
        problem = response.get("problem", "")
        if step.status is StepStatus.SUCCEEDED:
            self.set_plan(response["items"])
            self.invalid_turns = 0
        elif not problem:
            return
        else:
            self.invalid_turns += 1
        for message in conversation.plan_messages(response):
            self.add(message, step.number)

    def _take_model(self, step: StepValue) -> None:
        if step.status is not StepStatus.SUCCEEDED:
            return
        response = _response(step)
        message = conversation.assistant(response)
        if message is not None:
            self.add(message, step.number)
        self._measure(step, 1 if message else 0)
        self.last_model = step
        self._open_turn(step, response)
        note = response.get("note")
        if note:
            self.notes.append(conversation.user(note))
        self.nudges += response.get("nudge") == "empty"
        self.plan_nudges += response.get("nudge") == "plan"
        if not self.pending:
            self._answer_without_calls(step, response)

    def _open_turn(self, step: StepValue, response: dict[str, Any]) -> None:
        self.final, self.approval, self.check = None, None, None
        self.start_turn()
        self.pending = [
            PendingCall(
                call["id"],
                call["name"],
                call["arguments"],
                call.get("problem", ""),
                step.number,
            )
            for call in response.get("calls") or []
        ]
        self.ids.update(call.id for call in self.pending)

    def _answer_without_calls(self, step: StepValue, response: dict[str, Any]) -> None:
        if "nudge" not in response:
            self.final = response.get("content") or None
        self.close_turn(step.number)

    def _measure(self, step: StepValue, added: int) -> None:
        """The endpoint counted prompt and tools; only what came after is estimated."""
        if step.input_tokens:
            self.last_tokens = step.input_tokens
            after = self.encoded[-added:] if added else []
            self.bytes_since = sum(map(size, after))

    # ---- tools and checks

    def _take_tool(self, step: StepValue) -> None:
        response = _response(step)
        request = _response(step, "request")
        if "text" not in response:
            return
        succeeded = step.status is StepStatus.SUCCEEDED
        if request.get("effect") == IRREVERSIBLE and succeeded:
            self.count_act(step.name, request["arguments"])
        if response.get("untrusted"):
            self.untrusted = True
        if step.name == UPDATE_PLAN and succeeded:
            self.set_plan(response["result"]["plan"])
        self._remember(step, request, response)
        self.answer(request["call_id"], response["text"], step.number)

    def _remember(
        self, step: StepValue, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        succeeded = step.status is StepStatus.SUCCEEDED
        self.turn_succeeded |= succeeded
        self.turn_invalid |= not succeeded
        self.recent = [*self.recent[-4:], (step.name, response["text"])]
        same = repeat_key(step.name, request.get("arguments"), response["text"])
        self.repeated(same)
        if response.get("note"):
            self.notes.append(conversation.user(response["note"]))

    def _take_check(self, step: StepValue) -> None:
        self.check = step

    def _take_compaction(self, step: StepValue) -> None:
        upto = _response(step, "request")["upto"]
        messages, made_by = self.messages, self.made_by
        self.messages, self.encoded, self.made_by = [], [], []
        self.chain, self.bytes_since = "", 0
        self.last_tokens = 0
        for message, number in zip(messages, made_by, strict=True):
            short = conversation.shortened(message) if number <= upto else message
            self.add(short, number)
        self.compacted_at = step.number

    # ---- people

    def _take_decision(self, step: StepValue) -> None:
        verdicts.take(self, step)


def repeat_key(tool: str, arguments: Json, text: str) -> str:
    return digest([tool, arguments, text])


def _response(step: StepValue, what: str = "response") -> dict[str, Any]:
    value = getattr(step, what)
    return value if isinstance(value, dict) else {}


_TAKE = {
    StepKind.PLAN: Progress._take_plan,
    StepKind.MODEL: Progress._take_model,
    StepKind.TOOL: Progress._take_tool,
    StepKind.CHECK: Progress._take_check,
    StepKind.DECISION: Progress._take_decision,
    StepKind.COMPACTION: Progress._take_compaction,
}
