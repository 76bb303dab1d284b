"""What the top bar asks: is there an inbox for this person, and how full is it?"""

from __future__ import annotations

from typing import Any, cast

from django import template
from django.core.cache import caches
from django.template import Context, Template
from django.utils import timezone
from django.utils.safestring import SafeString

from reviews import asking, keyboard
from reviews.inbox import Row, fingerprint
from reviews.models import Review

register = template.Library()

KEPT_S = 15


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
def listed(context: Context, row: Row) -> SafeString:
    """One row of a list: most of a list's time, so it is kept for some seconds.

    Whoever sees the same shares it; its ages go on in the browser.
    """
    key = _look_of(context, row)
    kept: SafeString | None = caches["rows"].get(key)
    if kept is None:
        engine = cast("Template", context.template).engine
        with context.push(row=row):
            kept = engine.get_template("reviews/_item.html").render(context)
        caches["rows"].set(key, kept, KEPT_S)
    return kept


def _look_of(context: Context, row: Row) -> str:
    """The same for two rows that look the same."""
    review = row.review
    return fingerprint(
        [row],
        row.is_yours,
        review.due_at,
        review.rank_at,
        context.get("chosen") == review.pk,
        context.get("following") == review.pk,
        context["filters"].tail,
        timezone.get_current_timezone_name(),
    )


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
