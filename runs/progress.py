"""What the steps of a run amount to so far: a fold over them. Pure.

`Progress.take(step)` brings in one finished step; loading a run is taking all of
them, and a driver goes on taking one at a time, so no step ever costs a walk over
the history. Whatever depends on settings is stored with the step when it happens,
so old prompts stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from runs import conversation
from runs.canonical import Json, chain, digest, dumps, size
from runs.conversation import Message
from runs.states import StepKind, StepStatus
from runs.values import StepValue, VerdictKind

UPDATE_PLAN = "update_plan"


@dataclass(frozen=True)
class PendingCall:
    """A call of the open turn that has no answer yet; `raw` as the model gave it."""

    id: str
    name: str
    raw: Json
    problem: str
    step: int


@dataclass(frozen=True)
class Approval:
    """A person's yes to a call; `arguments` are theirs, or None for the model's."""

    call_id: str
    arguments: dict[str, Json] | None
    seal: dict[str, str]


@dataclass
class Progress:
    """The state of the conversation and the counters that lead to a park."""

    messages: list[Message] = field(default_factory=list)
    encoded: list[str] = field(default_factory=list)  # each message as JSON
    made_by: list[int] = field(default_factory=list)  # step number of each message
    chain: str = ""
    bytes_since: int = 0
    last_tokens: int = 0

    pending: list[PendingCall] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    approval: Approval | None = None
    check: StepValue | None = None
    final: str | None = None
    final_accepted: bool = False

    plan: list[dict[str, Json]] = field(default_factory=list)
    plan_revision: int = 0
    plan_item: int = 0

    acted: dict[str, int] = field(default_factory=dict)  # digest → irreversible acts
    recent: list[tuple[str, str]] = field(default_factory=list)  # tool, what it said
    untrusted: bool = False
    last: StepValue | None = None
    last_model: StepValue | None = None
    compacted_at: int = 0

    invalid_turns: int = 0
    nudges: int = 0
    plan_nudges: int = 0
    repeats: dict[str, int] = field(default_factory=dict)
    most_repeats: int = 0
    turn_invalid: bool = False
    turn_succeeded: bool = False

    @classmethod
    def of(cls, opening: Sequence[Message], steps: Sequence[StepValue]) -> Progress:
        progress = cls()
        for message in opening:
            progress.add(message, 0)
        for step in steps:
            progress.take(step)
        return progress

    def add(self, message: Message, step: int) -> None:
        text = dumps(message)
        self.messages.append(message)
        self.encoded.append(text)
        self.made_by.append(step)
        self.chain = chain(self.chain, text)
        self.bytes_since += size(text)

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
            self._set_plan(response["items"])
            self.invalid_turns = 0
        elif not problem:
            return
        else:
            self.invalid_turns += 1
        for message in conversation.plan_messages(response.get("content", ""), problem):
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
        self.turn_invalid = self.turn_succeeded = False
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
        self._close_turn(step.number)

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
        if request.get("effect") == "irreversible" and succeeded:
            self._count_act(step.name, request["arguments"])
        if response.get("untrusted"):
            self.untrusted = True
        if step.name == UPDATE_PLAN and succeeded:
            self._set_plan(response["result"]["plan"])
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
        self.repeats[same] = self.repeats.get(same, 0) + 1
        self.most_repeats = max(self.most_repeats, self.repeats[same])
        if response.get("note"):
            self.notes.append(conversation.user(response["note"]))

    def _count_act(self, tool: str, arguments: Json) -> None:
        act = digest([tool, arguments])
        self.acted[act] = self.acted.get(act, 0) + 1

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
        self._start_counters_again()
        response = _response(step)
        kind = VerdictKind(response["kind"])
        self.untrusted = self.untrusted and kind in _LOOKS_AWAY
        call_id = _response(step, "request").get("call_id")
        _DECIDE[kind](self, step, response, call_id)

    def _start_counters_again(self) -> None:
        self.invalid_turns = self.nudges = self.plan_nudges = 0
        self.repeats, self.most_repeats = {}, 0

    def _approved(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        if response.get("note"):
            self.notes.append(conversation.from_person(response["note"]))
        if call_id is None:
            self.final_accepted = self.final is not None
            return
        self.approval = Approval(
            call_id, response.get("arguments"), response.get("seal") or {}
        )

    def _rejected(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        reason = response["text"]
        if call_id is None:
            self._say(step, f"Not accepted. {reason}")
            return
        self.answer(
            call_id,
            f"A person rejected this call. It was not carried out. Reason: {reason}",
            step.number,
        )

    def _guided(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        text = "Not carried out: a person gave guidance instead, see their message."
        waiting = list(self.pending)
        self.notes.append(conversation.from_person(response["text"]))
        for call in waiting:
            self.answer(call.id, text, step.number)
        if not waiting:
            self.final = None
            self._close_turn(step.number)

    def _answered(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        if call_id is None:
            self._say(step, response["text"])
        else:
            self.answer(call_id, f"A person answers: {response['text']}", step.number)

    def _outcome(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        if call_id is None or not response.get("happened"):
            return
        call = next(call for call in self.pending if call.id == call_id)
        self._count_act(call.name, _response(step, "request").get("arguments"))
        result = response.get("result")
        said = result if isinstance(result, str) else dumps(result)
        self.answer(
            call_id, f"A person confirms that this took effect. {said}", step.number
        )

    def _again(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        self.check = None

    def _go_on(
        self, step: StepValue, response: dict[str, Any], call_id: str | None
    ) -> None:
        """Top up and abort leave no word in the conversation."""

    def _say(self, step: StepValue, text: str) -> None:
        self.final = None
        self.notes.append(conversation.from_person(text))
        self._close_turn(step.number)

    # ---- turns

    def answer(self, call_id: str, text: str, step: int) -> None:
        """The one answer of a call; the last one closes the turn."""
        self.add(conversation.tool(call_id, text), step)
        self.pending = [call for call in self.pending if call.id != call_id]
        self.approval = self.check = None
        if not self.pending:
            self._close_turn(step)

    def _close_turn(self, step: int) -> None:
        for note in self.notes:
            self.add(note, step)
        self.notes = []
        if self.turn_succeeded:
            self.invalid_turns = 0
        elif self.turn_invalid:
            self.invalid_turns += 1
        self.turn_succeeded = self.turn_invalid = False

    def _set_plan(self, items: list[dict[str, Json]]) -> None:
        self.plan = items
        self.plan_revision += 1

    # ---- the plan's progress

    def plan_now(self) -> list[dict[str, Json]]:
        """The plan with what has been worked past counted as done."""
        return [
            {**item, "status": "done"}
            if item["status"] == "open" and place < self.plan_item
            else item
            for place, item in enumerate(self.plan, start=1)
        ]

    def open_items(self) -> list[int]:
        """Items nobody worked on, the last one aside: the answer itself is that."""
        return [
            place
            for place, item in enumerate(self.plan, start=1)
            if item["status"] == "open" and self.plan_item < place < len(self.plan)
        ]


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
_LOOKS_AWAY = frozenset({VerdictKind.TOP_UP, VerdictKind.RETRY})
"""Decisions about a failure or a limit, not about what the agent has read."""
_DECIDE = {
    VerdictKind.APPROVE: Progress._approved,
    VerdictKind.REJECT: Progress._rejected,
    VerdictKind.GUIDE: Progress._guided,
    VerdictKind.ANSWER: Progress._answered,
    VerdictKind.OUTCOME: Progress._outcome,
    VerdictKind.RETRY: Progress._again,
    VerdictKind.TOP_UP: Progress._go_on,
    VerdictKind.ABORT: Progress._go_on,
}
