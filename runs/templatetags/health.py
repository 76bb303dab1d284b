"""Whether anything is there to advance the runs, for the banner on every page."""

from __future__ import annotations

from django import template

from agentops import demo
from runs import health

register = template.Library()


@register.simple_tag
def signs_of_life() -> health.Signs:
    """Whether a worker is there, and a restore that nobody has told us of; one query."""
    return health.signs()


@register.simple_tag
def in_demo() -> bool:
    return demo.is_on()
