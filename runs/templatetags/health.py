"""Whether anything is there to advance the runs, for the banner on every page."""

from __future__ import annotations

from django import template

from agentops import demo
from runs import health, lineage

register = template.Library()


@register.simple_tag
def workers_beat() -> bool:
    """True while a worker shows signs of life; at most one query."""
    return health.worker_beats()


@register.simple_tag
def went_back() -> bool:
    """True after a restore that nobody has told us of; one query."""
    return lineage.is_overtaken()


@register.simple_tag
def in_demo() -> bool:
    return demo.is_on()
