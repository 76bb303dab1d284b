"""The conversation of a run as it stands, and what may be done to it. Pure.

`Turns` holds the messages, the open turn, the plan and the counters that lead to a
park. The steps (`runs.progress`) and the decisions among them (`runs.verdicts`)
change it through the methods here, so that every call gets its one answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from runs import conversation
from runs.canonical import Json, chain, digest, dumps, size
from runs.conversation import Message
from runs.values import StepValue


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
class Turns:
    """The state of the conversation, and the counters that lead to a park."""

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
    denied: str = ""  # a call of which a person said that it did not happen
    final: str | None = None
    final_accepted: bool = False

    plan: list[dict[str, Json]] = field(default_factory=list)
    plan_revision: int = 0
    plan_item: int = 0

    acted: dict[str, int] = field(default_factory=dict)  # digest → irreversible acts
    untrusted: bool = False
    recent: list[tuple[str, str]] = field(default_factory=list)  # tool, what it said

    invalid_turns: int = 0
    nudges: int = 0
    plan_nudges: int = 0
    repeats: dict[str, int] = field(default_factory=dict)
    most_repeats: int = 0
    turn_invalid: bool = False
    turn_succeeded: bool = False
    turn_said: set[str] = field(default_factory=set)  # repeat keys of the open turn

    def add(self, message: Message, step: int) -> None:
        text = dumps(message)
        self.messages.append(message)
        self.encoded.append(text)
        self.made_by.append(step)
        self.chain = chain(self.chain, text)
        self.bytes_since += size(text)

    def answer(self, call_id: str, text: str, step: int) -> None:
        """The one answer of a call; the last one closes the turn."""
        self.add(conversation.tool(call_id, text), step)
        self.pending = [call for call in self.pending if call.id != call_id]
        self.approval = self.check = None
        self.denied = ""
        if not self.pending:
            self.close_turn(step)

    def close_turn(self, step: int) -> None:
        for note in self.notes:
            self.add(note, step)
        self.notes = []
        if self.turn_succeeded:
            self.invalid_turns = 0
        elif self.turn_invalid:
            self.invalid_turns += 1
        self.start_turn()

    def start_turn(self) -> None:
        self.turn_succeeded = self.turn_invalid = False
        self.turn_said = set()

    def repeated(self, same: str) -> None:
        """Once a turn at most: a model hears of it only when the turn is over."""
        if same not in self.turn_said:
            self.turn_said.add(same)
            self.repeats[same] = self.repeats.get(same, 0) + 1
            self.most_repeats = max(self.most_repeats, self.repeats[same])

    def set_plan(self, items: list[dict[str, Json]]) -> None:
        self.plan = items
        self.plan_revision += 1

    def say(self, text: str, step: int) -> None:
        self.final = None
        self.notes.append(conversation.from_person(text))
        self.close_turn(step)

    def count_act(self, tool: str, arguments: Json) -> None:
        act = digest([tool, arguments])
        self.acted[act] = self.acted.get(act, 0) + 1

    def start_counters_again(self) -> None:
        self.invalid_turns = self.nudges = self.plan_nudges = 0
        self.repeats, self.most_repeats = {}, 0

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
