"""A run that is watched: has it moved since its page was drawn?

A page asks every second, and most of the time nothing has. It sends back its stamp,
which one light query compares; the times that go on while a step is at work are drawn
anew every `TICK_S`, and the seconds to a moment it waits for as they pass.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from agentops import clock
from runs.models import Run

TICK_S = 3
COUNTED_S = 60
FIELDS = (
    *("state", "sequence", "steps_used", "tokens", "cost", "active_ms"),
    *("wake_at", "lease_until", "park_reason", "plan_revision", "restored_at"),
    "claims",
)
"""What nearly each write to a run that its page shows changes; the rest waits a tick."""


def stamp(run: Run) -> str:
    """The same for as long as the page of the run would look the same, or nearly."""
    tick = int(clock.timestamp() // (1 if _counts_seconds(run) else TICK_S))
    return "|".join(str(part) for part in (tick, *(getattr(run, f) for f in FIELDS)))


def _counts_seconds(run: Run) -> bool:
    """Does its page count down to when it goes on? Longer waits are told in minutes."""
    if run.wake_at is None:
        return False
    return 0 < (run.wake_at - clock.now()).total_seconds() < COUNTED_S


def is_as_seen(user: Any, run_id: UUID, seen: str) -> bool:
    """Is `seen` the stamp of the run now? One query; False for what one may not see."""
    run = Run.objects.visible_to(user).filter(pk=run_id).only(*FIELDS).first()
    return run is not None and seen == stamp(run)
