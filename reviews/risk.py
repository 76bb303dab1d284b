"""How much is at stake in a review: one rule, documented in docs/decisions.md.

Points are added up; 3 and more is high, 1 and 2 is medium, 0 is low:

- the call's effect: irreversible 2, idempotent 1, a read or no call 0
- the reason: a call whose outcome is unknown 3; one that follows untrusted content,
  comes a second time, or changed since it was approved 1; what stopped with an
  error 1
- its reach: more than `WIDE` e-mail addresses in the arguments 1
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reviews.models.review import Risk
from runs.canonical import Json, dumps
from runs.states import ParkReason

WIDE = 5

_EFFECT = {"irreversible": 2, "idempotent": 1}
_REASON = {
    ParkReason.OUTCOME_UNKNOWN: 3,
    ParkReason.UNTRUSTED_CONTENT: 1,
    ParkReason.REPEATED_CALL: 1,
    ParkReason.CHANGED: 1,
    ParkReason.ESCALATION: 1,
    ParkReason.FATAL: 1,
    ParkReason.RETRIES: 1,
    ParkReason.POISON: 1,
}
_ADDRESS = re.compile(r"[^\s\"<>,;]+@[^\s\"<>,;]+")


def of(park: Mapping[str, Json]) -> Risk:
    """The risk of a run's park, as `values.Park.as_json` has it."""
    points = _points(park)
    if points >= 3:
        return Risk.HIGH
    return Risk.MEDIUM if points else Risk.LOW


def _points(park: Mapping[str, Json]) -> int:
    points = _REASON.get(ParkReason(park["reason"]), 0)
    call = park["call"]
    if call:
        points += _EFFECT.get(call["effect"], 0)
        points += 1 if reach(call["arguments"]) > WIDE else 0
    return points


def reach(arguments: Mapping[str, Json]) -> int:
    """How many different e-mail addresses a call's arguments name."""
    return len({found.lower() for found in _ADDRESS.findall(dumps(arguments))})
