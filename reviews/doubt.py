"""What is known of a call that was started and never told its result."""

from __future__ import annotations

from datetime import datetime, timedelta

from agentops import clock
from agentops.conf import product
from reviews import ledger
from reviews.ledger import Start
from reviews.models import Review
from runs.models import Effect
from runs.states import EffectStatus
from runs.tools.base import titled

BEATS_MISSED = 3


def known(review: Review) -> list[tuple[str, str, datetime | None]]:
    """(name, words, moment) from the ledger of effects; one query."""
    start = ledger.start_of(review)
    if start is None:
        return [("Known", "The ledger has no start of this call.", None)]
    return [
        ("Known", _status(start.effect), None),
        ("Started", "", start.effect.started_at),
        ("By", _named(start), None),
        ("That worker", _life(start), None),
    ]


def _status(effect: Effect) -> str:
    name = titled(effect.tool)
    if effect.status == EffectStatus.DONE:
        return f"{name} has been recorded as done since."
    if effect.status == EffectStatus.NOT_DONE:
        return f"{name} has been recorded as not done since."
    return f"{name} was started; whether it took effect nobody has recorded."


def _named(start: Start) -> str:
    driver = start.driver
    if driver is None:
        return f"worker {start.effect.owner}"
    host = driver.host.split("/", 1)[0]
    return f"worker {driver.slot} on {host}, process {driver.pid}"


def _life(start: Start) -> str:
    if start.driver is None or start.is_starter_dead:
        return "Known to have ended: it can do nothing any more."
    silent = timedelta(seconds=BEATS_MISSED * product().heartbeat_s)
    if start.driver.beat_at > clock.now() - silent:
        return "Still alive: the call may yet take effect."
    return "Silent, but not known to have ended: the call may yet take effect."
