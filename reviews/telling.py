"""Who is told of what: rows of the outbox, written with what they tell of.

Runs in the transaction of the caller; `reviews.tasks` delivers afterwards, each row
when its `next_at` has come. Whether a row is still wanted then is `reviews.wanted`'s
to say, so nothing here has to be taken back when an item closes or opens again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet

from agentops.conf import product
from reviews import routing
from reviews.models import Notification, Review
from reviews.models.notification import NotificationStatus
from reviews.models.review import Risk
from reviews.notifiers import events
from reviews.routing import Address
from runs import queue
from runs.models import Agent, Run
from runs.states import RunState
from runs.values import RunChange

DELIVER = "reviews.tasks.deliver"
FOLLOW_UP_WAIT_S = 15.0
"""Decisions made within it are followed up in one message."""


def opened(run: Run, review: Review, at: datetime) -> None:
    """A run is parked: who may decide is told and reminded, who asked is told.

    At the end of its time those who see every run hear of it as well.
    """
    told = _reached(_deciders_told(run), review.risk)
    first_at = opens_at(review)
    rows = _rows(review, events.OPENED, told, first_at)
    for event in (events.REMINDER_HALF, events.REMINDER_LATE):
        if (due := events.moment(event, review)) > first_at:
            rows += _rows(review, event, told, due)
    overseers = routing.addresses(_with("runs.view_all_runs"), review.risk)
    rows += _rows(review, events.OVERDUE, overseers, review.due_at)
    rows += _rows(review, events.PARKED, _asker(run, told), at)
    _write(rows, at)


def closed(review: Review, at: datetime) -> None:
    """An item is decided, expired or cancelled: who was told of it hears that, too.

    A decision that can be undone is told of when it takes effect. After an undo, or
    when an item that had expired is decided, it is told of anew.
    """
    decision = review.decisions.filter(undone_at=None).first()
    rows_of = review.notifications.all()
    since = at
    if decision is not None:
        at = max(at, decision.effective_at)
        # a mail would tell them what they have just done
        rows_of = rows_of.exclude(person=decision.actor_id, channel=routing.EMAIL)
    next_at = at + timedelta(seconds=FOLLOW_UP_WAIT_S)
    rows = _rows(review, events.CLOSED, _told(rows_of), next_at)
    earlier = rows_of.filter(event=events.CLOSED, created_at__lt=since)
    _send_again(earlier, next_at)
    _write(rows, at)


def expired(review: Review, at: datetime) -> None:
    """Nobody answered in time: all who were told of it hear that, and who asked.

    After an item was asked again and expired once more, they are told so again.
    """
    closed(review, at)
    asker = _asker(review.run, _told(review.notifications.all()))
    earlier = review.notifications.filter(event=events.EXPIRED)
    _send_again(earlier, at)
    _write(_rows(review, events.EXPIRED, asker, at), at)


def ended(run: Run, change: RunChange) -> None:
    """A run is over: who asked for it is told; of a failure who may decide as well."""
    people, risk = User.objects.filter(pk=run.submitter_id, is_active=True), Risk.LOW
    event = events.of_end(change.to_state)
    if change.to_state == RunState.ERROR:
        people, risk = _concerned(run), Risk.MEDIUM
    elif event == events.ABORTED and change.actor == run.submitter.get_username():
        return
    told = routing.addresses(people, risk.value, at_least_mail=True)
    _write([_row(run, None, event, address, change.at) for address in told], change.at)


def opens_at(review: Review) -> datetime:
    """When its first message goes out: with others, but in the first half of its time.

    Others of that address that wait as well go along with the first that is due.
    """
    numbers = product()
    every_s = {
        Risk.HIGH.value: numbers.notify_every_high_s,
        Risk.MEDIUM.value: numbers.notify_every_medium_s,
        Risk.LOW.value: numbers.notify_every_low_s,
    }[review.risk]
    together_at = review.opened_at + timedelta(seconds=every_s)
    return min(together_at, events.moment(events.REMINDER_HALF, review))


def again(review: Review, at: datetime) -> None:
    """An expired item waits anew, with new deadlines: all who were told are so again."""
    opened(review.run, review, at)
    for event in events.TO_DECIDE:
        told = review.notifications.filter(event=event)
        due_at = at if event == events.OPENED else events.moment(event, review)
        _send_again(told, due_at)
    queue.enqueue(DELIVER)


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


def _reached(people: QuerySet[User], risk: str) -> list[Address]:
    """Where they want it; if nobody wants such a risk, everybody's mail gets it."""
    return routing.addresses(people, risk) or routing.by_mail(people)


def _asker(run: Run, told: Iterable[Address]) -> list[Address]:
    """The submitter, unless they are told as somebody who may decide."""
    if any(address.person_id == run.submitter_id for address in told):
        return []
    people = User.objects.filter(pk=run.submitter_id, is_active=True)
    return routing.addresses(people, Risk.LOW.value, at_least_mail=True)


def _told(rows: QuerySet[Notification]) -> list[Address]:
    """Whom these rows tell that their item is open."""
    opening = rows.filter(event=events.OPENED)
    whom = opening.values_list("person", "channel", "address")
    return [Address(*one) for one in whom]


def _rows(
    review: Review, event: str, told: Iterable[Address], next_at: datetime
) -> list[Notification]:
    return [_row(review.run, review, event, address, next_at) for address in told]


def _row(
    run: Run, review: Review | None, event: str, address: Address, next_at: datetime
) -> Notification:
    return Notification(
        review=review,
        run=run,
        person_id=address.person_id,
        event=event,
        channel=address.channel,
        address=address.value,
        status=NotificationStatus.PENDING.value,
        next_at=next_at,
    )


def _send_again(rows: QuerySet[Notification], next_at: datetime) -> None:
    rows.update(
        status=NotificationStatus.PENDING.value,
        attempts=0,
        error="",
        sent_at=None,
        next_at=next_at,
    )


def _write(rows: list[Notification], at: datetime) -> None:
    """Add the rows that are not there yet, and have delivered what is due now."""
    for row in rows:
        row.created_at = at
    if rows:
        Notification.objects.bulk_create(rows, ignore_conflicts=True)
    if any(row.next_at <= at for row in rows):
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
