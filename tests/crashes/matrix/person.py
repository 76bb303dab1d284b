"""A person who answers whatever parks, and looks outside before saying "no"."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress

import psutil
from django.contrib.auth.models import User
from django.db import connection

from reviews.models import Review
from reviews.services import decide
from reviews.stale import StaleReview
from runs.errors import BadInput
from runs.losses import DATABASE_LOST
from runs.models import Effect
from tests.support import answering
from tests.support.fleet import pid_of
from tests.support.outside.servers import Outside

PAUSE_S = 0.1
# What a dead process had sent may still be on its way to the counter.
LOOKS_AGAIN_S = 0.3


class Person(threading.Thread):
    """Answers until `leave`; `said` counts the answers, `broken` what went wrong."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(name="person", daemon=True)
        self._outside = outside
        self._gone = threading.Event()
        self.said: Counter[str] = Counter()
        self.broken: list[str] = []

    def run(self) -> None:
        while not self._gone.wait(PAUSE_S):
            try:
                for review in Review.objects.open().select_related("run"):
                    self._answer(review)
            except DATABASE_LOST:
                connection.close()
            except Exception as error:  # noqa: BLE001 - the matrix tells of it
                self.broken.append(f"the person: {error!r}")
        connection.close()

    def leave(self) -> None:
        self._gone.set()
        self.join(30)

    def _answer(self, review: Review) -> None:
        kind, payload = answering.answer(review.run.park or {}, self._has_happened)
        starter = _starter_of(review)
        try:
            decide(
                review.pk,
                by=User.objects.get(username="boss"),
                kind=kind,
                item_version=review.version,
                digest=review.digest,
                payload=payload,
            )
        except BadInput:
            # "It did not happen" is not offered: who started it may be alive.
            self.said["no, not taken yet"] += 1
            return
        except StaleReview:
            return
        words = str(payload.get("happened", kind))
        self.said[words] += 1
        if words == "no" and _lives(starter):
            self.broken.append(f"process {starter} counted as dead and is not")

    def _has_happened(self, key: str) -> bool:
        if self._outside.count(key):
            return True
        self._gone.wait(LOOKS_AGAIN_S)
        return self._outside.count(key) > 0


def _starter_of(review: Review) -> int:
    """The id of the process that started the call, 0 if none did."""
    key = (review.proposal or {}).get("key", "")
    effect = Effect.objects.filter(key=key).first()
    return pid_of(effect.owner) if effect else 0


def _lives(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
