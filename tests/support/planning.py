"""Facts and steps for tests of the planner: plain values, no rows."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

from runs.conversation import opening
from runs.facts import Facts
from runs.progress import Progress
from runs.states import RunState, StepKind, StepStatus
from runs.toolbox import Offered, Toolbox
from runs.tools.base import ToolSpec
from runs.values import AgentConfig, Policy, StepValue
from tests.support import acts

CONFIG: dict[str, Any] = {
    "name": "Clerk",
    "prompt": "You work.",
    "model": "m",
    "check_model": "m",
    "max_output_tokens": 100,
    "context_window": 100_000,
    "plan_first": False,
    "grants": {},
    "threshold": "0.75",
    "review_when": [],
    "check_answer": False,
    "has_reviewer": True,
}


def offered(
    spec: ToolSpec, policy: Policy = Policy.ASK_BELOW, **fields: Any
) -> Offered:
    values: dict[str, Any] = {
        "threshold": Decimal("0.75"),
        "timeout_s": 5.0,
        "attempts": 3,
        "result_limit": 1000,
        "untrusted": spec.untrusted,
    }
    return Offered(spec, policy, **values | fields)


def facts(
    *, config: dict[str, Any] | None = None, tools: Any = acts.ALL, **fields: Any
) -> Facts:
    box = {one.spec.name: one for one in map(_as_offered, tools)}
    values: dict[str, Any] = {
        "config": AgentConfig.of(CONFIG | (config or {})),
        "task": "Do it.",
        "root_key": "root",
        "state": RunState.EXECUTING,
        "sequence": 0,
        "limits": {},
        "used": fields.pop("used", None) or _nothing_used(),
        "toolbox": Toolbox(box, {"m": None}),
    }
    return Facts(**values | fields)


def _as_offered(tool: Any) -> Offered:
    return tool if isinstance(tool, Offered) else offered(tool)


def _nothing_used() -> Any:
    from runs.budgets import Used

    return Used()


class Steps:
    """Builds a history step by step; `progress()` is what it amounts to."""

    def __init__(self) -> None:
        self.steps: list[StepValue] = []
        self._ids = itertools.count(1)

    def progress(self) -> Progress:
        return Progress.of(opening("You work.", "Do it."), self.steps)

    def add(
        self,
        kind: StepKind,
        response: Any,
        request: Any = None,
        *,
        status: StepStatus = StepStatus.SUCCEEDED,
        **fields: Any,
    ) -> Steps:
        number = len(self.steps) + 1
        self.steps.append(
            StepValue(
                number, kind, status, request=request, response=response, **fields
            )
        )
        return self

    def model(self, *calls: tuple[str, Any], content: str = "", **more: Any) -> Steps:
        """A model call; its calls get the ids c1, c2, …"""
        called = [
            {"id": f"c{next(self._ids)}", "name": name, "arguments": arguments}
            for name, arguments in calls
        ]
        return self.add(StepKind.MODEL, {"content": content, "calls": called} | more)

    def tool(self, call_id: str, text: str = "ok", **fields: Any) -> Steps:
        more = fields.pop("response", {})
        request = {"call_id": call_id, "arguments": {}} | fields.pop("request", {})
        fields.setdefault("name", "echo")
        return self.add(StepKind.TOOL, {"text": text} | more, request, **fields)

    def broken(self, call_id: str, error_class: str, text: str = "") -> Steps:
        """A tool step that failed in a way no model can answer for."""
        return self.add(
            StepKind.TOOL,
            {},
            {
                "call_id": call_id,
                "arguments": {},
                "key": "k" * 64,
                "effect": "read",
                "occurrence": 1,
            },
            status=StepStatus.FAILED,
            name="echo",
            error_class=error_class,
            error_text=text,
        )

    def plan(self, *items: str) -> Steps:
        listed = [{"text": text, "status": "open", "reason": ""} for text in items]
        return self.add(StepKind.PLAN, {"content": "{}", "items": listed})

    def decision(self, kind: str, call_id: str | None = None, **response: Any) -> Steps:
        return self.add(
            StepKind.DECISION,
            {"kind": kind} | response,
            {"call_id": call_id},
            name=kind,
        )
