"""Who is told of what: rows of the outbox, written with what they tell of.

Runs in the transaction of the caller; `reviews.tasks` delivers afterwards.
"""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet

from agentops.conf import product
from reviews.models import Notification, Review
from reviews.models.notification import NotificationStatus
from reviews.notifiers import message
from runs import queue
from runs.models import Agent, Run

DELIVER = "reviews.tasks.deliver"
EMAIL = "email"


def opened(run: Run, review: Review, at: datetime) -> None:
    """A run is parked: those who may decide are told."""
    _tell(run, review, message.OPENED, _deciders_told(run), at)


def failed(run: Run, at: datetime) -> None:
    """A run ended with an error: those who may decide are told, and who asked."""
    _tell(run, None, message.FAILED, _concerned(run), at)


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
