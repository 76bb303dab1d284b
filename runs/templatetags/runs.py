"""What rows of runs show: the chip of a state, the task as a heading."""

from __future__ import annotations

from django import template

from runs import standing
from runs.facts import subject
from runs.models import Run

register = template.Library()

register.filter("task_title", subject)


@register.filter
def chip(run: Run) -> standing.Chip:
    return standing.chip(run)


@register.filter
def active_s(run: Run) -> float:
    """Active time in seconds."""
    return run.active_ms / 1000
