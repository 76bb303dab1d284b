"""What a change of a run's state means here: a review opens, or is cancelled.

Runs in the transaction that changes the run, and only writes rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from agentops import clock
from agentops.conf import product
from reviews import risk
from reviews.models import Notification, Review
from reviews.models.notification import NotificationStatus
from reviews.models.review import ReviewStatus, Risk
from reviews.notifiers import message
from runs import queue
from runs.canonical import Json, clean_text, dumps, shorten
from runs.models import Agent, Run
from runs.states import RunState
from runs.values import RunChange

DELIVER = "reviews.tasks.deliver"
EMAIL = "email"
MAX_TITLE = 300
MAX_SEARCH = 20_000


def on_run_changed(sender: object, *, run: Run, change: RunChange, **_: Any) -> None:
    """Receives `runs.signals.run_changed`."""
    if change.to_state == RunState.AWAITING_HUMAN:
        open_review(run, change.park or run.park or {}, change.at)
        return
    if change.from_state == RunState.AWAITING_HUMAN:
        cancel_review(run, change.at)
    if change.to_state == RunState.ERROR:
        _tell(run, None, message.FAILED, _concerned(run), change.at)


def open_review(run: Run, park: Mapping[str, Json], at: datetime) -> Review:
    """Open the one review of a parked run, and tell those who may decide.

    Inside the caller's transaction. Returns the open review if there is one.
    """
    known = Review.objects.open().filter(run=run).first()
    if known is not None:
        return known
    review = Review.objects.create(**_described(run, park), opened_at=at)
    _tell(run, review, message.OPENED, _deciders_told(run), at)
    return review


def cancel_review(run: Run, at: datetime) -> None:
    """Close the run's open review without a decision; the decided are closed."""
    Review.objects.open().filter(run=run).update(
        status=ReviewStatus.CANCELLED.value,
        closed_at=at,
        version=F("version") + 1,
        holder=None,
        holder_until=None,
    )


def deciders(agent: Agent) -> QuerySet[User]:
    """Everyone active who may decide on runs of the agent.

    Where the agent names groups, their members; if no member of them may decide,
    those who see every run, so that no parked run goes unheard.
    """
    able = _with("reviews.decide_review")
    if not agent.deciders.exists():
        return able
    members = able.filter(groups__in=agent.deciders.all()).distinct()
    return members if members.exists() else _with("runs.view_all_runs")


def _with(permission: str) -> QuerySet[User]:
    found: QuerySet[User] = User.objects.with_perm(
        permission, backend="django.contrib.auth.backends.ModelBackend"
    )
    return found


def _described(run: Run, park: Mapping[str, Json]) -> dict[str, Any]:
    call = park["call"] or {}
    level = risk.of(park)
    due_at = clock.later(_due_s(level))
    return {
        "run": run,
        "step_number": park["step"],
        "sequence": run.sequence,
        "reason": park["reason"],
        "title": shorten(" ".join(str(park["title"]).split()), MAX_TITLE),
        "question": park["question"],
        "detail": {name: park[name] for name in ("figures", "error", "reasoning")},
        "proposal": call,
        "tool": call.get("tool", ""),
        "digest": call.get("digest", ""),
        "seal": park["seal"],
        "risk": level.value,
        "search_text": _search_text(run, park),
        "due_at": due_at,
        "rank_at": due_at,
    }


def _due_s(level: Risk) -> float:
    if level is Risk.HIGH:
        return product().review_due_high_risk_s
    return product().review_due_s


def _search_text(run: Run, park: Mapping[str, Json]) -> str:
    """All that people look for a review by, in one text."""
    call = park["call"] or {}
    parts = [
        park["title"],
        park["question"],
        run.agent.name,
        run.submitter.get_username(),
        run.task,
        dumps(call["arguments"]) if call else "",
        (park["error"] or {}).get("text", ""),
    ]
    return shorten(clean_text("\n".join(filter(None, parts))), MAX_SEARCH)


def _tell(
    run: Run, review: Review | None, event: str, people: QuerySet[User], at: datetime
) -> None:
    """An outbox row for each address, and their delivery."""
    rows = [
        Notification(
            review=review,
            run=run,
            person=person,
            event=event,
            channel=EMAIL,
            address=person.email,
            status=NotificationStatus.PENDING.value,
            created_at=at,
            next_at=at,
        )
        for person in _one_per_address(people)
    ]
    if rows:
        Notification.objects.bulk_create(rows)
        queue.enqueue(DELIVER)


def _deciders_told(run: Run) -> QuerySet[User]:
    """Who may decide; so not the submitter, where others have to."""
    people = deciders(run.agent)
    if run.agent.allow_self_decision or product().allow_self_decision:
        return people
    return people.exclude(pk=run.submitter_id)


def _concerned(run: Run) -> QuerySet[User]:
    """Who may decide, and who asked for it."""
    ids = [*deciders(run.agent).values_list("pk", flat=True), run.submitter_id]
    return User.objects.filter(pk__in=ids, is_active=True)


def _one_per_address(people: QuerySet[User]) -> list[User]:
    by_address: dict[str, User] = {}
    for person in people.exclude(email="").order_by("pk"):
        by_address.setdefault(person.email.lower(), person)
    return list(by_address.values())
