"""What the top bar asks: is there an inbox for this person, and how full is it?"""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context

from agentops import clock
from reviews import asking, holding, keyboard
from reviews.models import Review

register = template.Library()


@register.simple_tag(takes_context=True)
def waiting_for(context: Context, user: Any) -> int:
    """How many open reviews the person may decide on; one query at most.

    None where the page has counted its views already.
    """
    if not may_review(user):
        return 0
    counted = getattr(context.get("navigation"), "waiting", None)
    if counted is not None:
        return int(counted)
    return Review.objects.visible_to(user).open().count()


@register.simple_tag
def asked_of(user: Any, review: Review | None) -> asking.Asked | None:
    """The question of a run that waits, if the person may answer it."""
    return asking.of(review, user) if review is not None else None


@register.simple_tag(takes_context=True)
def holding_of(context: dict[str, Any], review: Review) -> holding.Holding:
    """Who holds the item now, as the page of this person says it first."""
    return holding.of(review, context["user"], clock.now(), holding.Before())


@register.simple_tag
def key_legend() -> list[keyboard.Key]:
    return keyboard.legend()


@register.filter
def may_review(user: Any) -> bool:
    return bool(
        user
        and user.is_authenticated
        and (
            user.has_perm("reviews.decide_review")
            or user.has_perm("runs.view_all_runs")
        )
    )
