"""Drive in the test's own process, and see what became of the runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from django_q.models import OrmQ  # noqa: TID251

from runs import slots
from runs.driver import Driver, Engine
from runs.models import Run


def drive(
    engine: Engine,
    *,
    kind: type[Driver] = Driver,
    until: Callable[[], bool] | None = None,
    within_s: float = 20.0,
) -> dict[str, str | int]:
    """Drive until this comes true, or until there is nothing near."""
    slot = slots.take(1)
    assert slot
    deadline = time.monotonic() + within_s

    def is_draining() -> bool:
        assert time.monotonic() < deadline, "the driver does not leave"
        return until is not None and until()

    return kind(engine, slot, is_draining=is_draining).drive()


def sequences() -> list[int]:
    return list(Run.objects.order_by("created_at").values_list("sequence", flat=True))


def sent() -> list[str]:
    return [task.task["func"] for task in OrmQ.objects.all()]
