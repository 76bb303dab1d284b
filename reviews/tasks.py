"""What the queue runs for reviews: delivering the outbox, and the last net.

Neither ever touches a run: a message that cannot be delivered is a row that admins
see, nothing else.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from agentops import clock
from reviews import outbox, receivers, telling
from reviews.models import Review
from reviews.models.review import ReviewStatus
from runs import timers
from runs.models import Run
from runs.states import RunState

DELIVER = telling.DELIVER
SWEEP = "reviews.tasks.sweep"

BATCH = 100
SWEEP_AFTER_S = 5.0
SWEEP_EVERY_S = 15.0


def deliver() -> dict[str, int]:
    """Send what is due of the outbox."""
    return outbox.deliver()


def sweep() -> dict[str, int]:
    """Open a review for every parked run that has none; an expired one is one."""
    opened = 0
    for run_id in _unreviewed().values_list("pk", flat=True)[:BATCH]:
        opened += _open(run_id)
    return {"opened": opened}


def register_timers() -> None:
    """Called once, when the apps are ready."""
    timers.register(DELIVER, is_delivery_due)
    timers.register(SWEEP, timers.seldom(is_sweep_due, SWEEP_EVERY_S))


def is_delivery_due() -> bool:
    return outbox.due(clock.now()).exists()


def is_sweep_due() -> bool:
    """Asked only now and then: the signal opens reviews at once."""
    return _unreviewed().exists()


def _unreviewed() -> QuerySet[Run]:
    known = Q(status=ReviewStatus.OPEN.value) | Q(
        status=ReviewStatus.EXPIRED.value, sequence=OuterRef("sequence")
    )
    its_own = Review.objects.filter(known, run=OuterRef("pk"))
    before = clock.later(-SWEEP_AFTER_S)
    return Run.objects.filter(
        ~Exists(its_own),
        parked_at__lt=before,
        state=RunState.AWAITING_HUMAN.value,
    ).order_by("parked_at")


def _open(run_id: UUID) -> int:
    """Under the run's lock, so that a decision or a second sweep waits its turn."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).filter(pk=run_id)
        run = locked.filter(state=RunState.AWAITING_HUMAN.value).first()
        if run is None or receivers.of_park(run).exists():
            return 0
        receivers.open_review(run, run.park or {}, clock.now())
        return 1
