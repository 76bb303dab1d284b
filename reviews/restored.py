"""A backup was restored: every run that was under way asks before it acts again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import F

from agentops import log
from reviews.models import Review
from reviews.stale import lock_run
from runs import lineage, restoring

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Marked:
    """How many runs were under way, and in how many a call may have happened since."""

    runs: int
    in_doubt: int


def mark_all() -> Marked:
    """Each run in a transaction of its own. Call it only where no worker runs.

    Items about an irreversible call say so before their question, under a new version.
    """
    restoring.end_drivers()
    runs = restoring.under_way()
    in_doubt = 0
    for run_id in runs:
        with transaction.atomic(), log.bound(run=run_id):
            lock_run(run_id)
            if restoring.mark(run_id):
                in_doubt += 1
                _warn_of(run_id)
    lineage.begin_anew()
    logger.warning("restored: %d runs were under way, %d in doubt", len(runs), in_doubt)
    return Marked(len(runs), in_doubt)


def _warn_of(run_id: UUID) -> None:
    for review in Review.objects.open().filter(run=run_id).select_related("run"):
        question = str((review.run.park or {}).get("question", review.question))
        Review.objects.open().filter(pk=review.pk, version=review.version).update(
            question=question, version=F("version") + 1
        )
