"""Who started the call a review is about, and when: the ledger's row, with its driver."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from reviews.models import Review
from runs import leases
from runs.models import Driver, Effect

KNOWN = "_start_of_its_call"
FIELDS = ("host", "slot", "pid", "beat_at", "ended_at")


@dataclass(frozen=True)
class Start:
    """A start of the call; `driver` is None once its row is gone."""

    effect: Effect
    driver: Driver | None

    @property
    def is_starter_dead(self) -> bool:
        """Is the process that started it known to be gone?"""
        return leases.proves_death(self.driver)


def start_of(review: Review) -> Start | None:
    """The start of the proposed call, None if the ledger has none.

    One query for each reading of the review: the page and its form ask alike.
    """
    if KNOWN not in review.__dict__:
        review.__dict__[KNOWN] = _read(review)
    found: Start | None = review.__dict__[KNOWN]
    return found


def _read(review: Review) -> Start | None:
    key = str((review.proposal or {}).get("key", ""))
    driver = Driver.objects.filter(owner=OuterRef("owner"))
    columns = {f"driver_{name}": Subquery(driver.values(name)) for name in FIELDS}
    effect = Effect.objects.filter(key=key).annotate(**columns).first()
    return None if effect is None else Start(effect, _driver(effect))


def _driver(effect: Effect) -> Driver | None:
    found = {name: getattr(effect, f"driver_{name}") for name in FIELDS}
    return Driver(owner=effect.owner, **found) if found["beat_at"] else None
