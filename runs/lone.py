"""A driver for runs that may have ended the process they were in."""

from __future__ import annotations

from uuid import UUID

from runs import leases, queue
from runs.driver import Driver


class LoneDriver(Driver):
    """Drives suspects, one at a time, with nothing beside them that could suffer.

    A suspect that gets a step recorded is none any more and is let go.
    """

    linger_s = 1.5

    def _capacity(self) -> int:
        return 1

    def _claim_some(self) -> list[UUID]:
        if self._flights or not self._takes_over():
            return []
        run_id = leases.claim_alone(self.owner)
        return [run_id] if run_id else []

    def _lets_go_after_step(self, run_id: UUID) -> bool:
        return run_id in self._flights

    def _look_around(self, now: float) -> None:
        if self._is_near():
            self._near_at = now

    def _is_near(self) -> bool:
        return bool(self._flights) or leases.has_suspects()

    def _wake_successor(self) -> None:
        queue.wake_alone()
