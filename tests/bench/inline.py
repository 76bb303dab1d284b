"""The product's driver, led by the bench: claims when told to, not at the next poll.

    with driving() as driver:
        run = start(...)
        driver.until_rest()

Everything else is the worker's: slot, leases, heartbeat, I/O threads, the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runs import engine, slots
from runs.driver import Driver


class InlineDriver(Driver):
    """A driver whose loop runs in the caller's thread until its runs rest."""

    def until_rest(self) -> None:
        """Claim what is due and take it to where it rests."""
        self._next_claim_at = 0.0
        self._claim()
        while self._flights or self._claimed:
            self.turn()

    def turn(self) -> None:
        """One round of the loop."""
        self._work()
        self._heart.turned()


@contextmanager
def driving() -> Iterator[InlineDriver]:
    slot = slots.take_first(slots.of_drivers())
    assert slot is not None
    driver = InlineDriver(engine, slot)
    driver._heart.start()
    try:
        yield driver
    finally:
        driver._heart.stop()
        driver._pool.close()
        driver._end()
