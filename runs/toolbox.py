"""The tools of one run under the policy of the moment. Pure.

The agent's grant is frozen with its version; the tool's row is live. The stricter
of both holds: a tool switched off or made to ask is so for runs already going.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from runs.canonical import Json, digest, idempotency_key
from runs.pricing import Price
from runs.tools.base import Arguments, ToolSpec
from runs.values import Policy, ProposedCall


@dataclass(frozen=True)
class Offered:
    """A tool as one run may use it now. Times in seconds, sizes in bytes."""

    spec: ToolSpec
    policy: Policy
    threshold: Decimal
    timeout_s: float
    attempts: int
    result_limit: int
    untrusted: bool
    settings: Mapping[str, Json] = field(default_factory=dict)

    def seal(self, arguments: Json) -> dict[str, str]:
        """What must be the same when the call runs as when it was let through."""
        return {"arguments": digest(arguments), **self._proofs}

    @property
    def terms(self) -> dict[str, Json]:
        """What the seal proves but the arguments, in full: a change can be told."""
        schema = self.spec.parameters
        return {
            "policy": self.policy.value,
            "threshold": str(self.threshold.normalize()),
            "untrusted": self.untrusted,
            "settings": dict(self.settings),
            "parameters": schema.get("properties", {}),
            "required": schema.get("required", []),
        }

    @cached_property
    def _proofs(self) -> dict[str, str]:
        """The seal's part that is the same for every call."""
        policy = [self.policy.value, str(self.threshold.normalize()), self.untrusted]
        return {
            "schema": digest(self.spec.parameters),
            "effect": digest(self.spec.effect.value),
            "policy": digest(policy),
            "settings": digest(dict(self.settings)),
        }


@dataclass(frozen=True)
class Toolbox:
    """What a run may call, and what its models cost (None: nobody knows)."""

    tools: Mapping[str, Offered]
    prices: Mapping[str, Price | None]

    @property
    def allowed(self) -> list[str]:
        return [
            name
            for name, offered in self.tools.items()
            if offered.policy is not Policy.BLOCKED
        ]


def propose(
    offered: Offered,
    *,
    call_id: str,
    arguments: Arguments,
    root_key: str,
    occurrence: int,
) -> ProposedCall:
    """The call as it would run, with its key; `arguments` are validated ones."""
    name = offered.spec.name
    return ProposedCall(
        id=call_id,
        tool=name,
        arguments=arguments,
        digest=digest([name, arguments]),
        key=idempotency_key(root_key, name, arguments, occurrence),
        effect=offered.spec.effect_for(arguments).value,
        occurrence=occurrence,
        title=offered.spec.words(arguments),
    )
