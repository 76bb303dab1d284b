"""What a message says, whatever the channel: about one item, or about several.

Its words are those of `phrases`: no arguments, no tool results, no question of the
agent. Whoever renders it escapes it for the channel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from agentops import clock
from agentops.conf import product
from reviews.decisions import registry
from reviews.models import Notification, Review
from reviews.models.review import ReviewStatus
from reviews.notifiers import events, phrases
from reviews.notifiers.phrases import Call
from runs import words
from runs.models import Run
from runs.states import ParkReason

LISTED = 20
"""Items that a message about several names one by one."""


@dataclass(frozen=True)
class Message:
    """`what` is a verb in words, `calls` are oldest first, `link` is absolute.

    `risk` and `due_at` are those of a review; `does` is what the link is for. `key`
    is the same in all messages about one thing; `closes` says that it is done with.
    `items` are the single messages that this one sums up.
    """

    event: str
    key: str
    subject: str
    what: str
    link: str
    does: str
    after: str = ""
    why: str = ""
    reason: str = ""
    agent: str = ""
    submitter: str = ""
    calls: tuple[Call, ...] = ()
    shows_calls: bool = False
    last_error: str = ""
    risk: str = ""
    due_at: datetime | None = None
    closes: bool = False
    items: tuple[Message, ...] = ()

    @property
    def more(self) -> int:
        """How many items are not named."""
        return max(0, len(self.items) - LISTED)

    @property
    def listed(self) -> tuple[Message, ...]:
        return self.items[:LISTED]


def of(rows: Sequence[Notification]) -> Message:
    """The message of these rows, which tell one address of the same event.

    Times are in the current time zone. LookupError if there is nothing to tell of.
    """
    said = [_single(row) for row in rows]
    return said[0] if len(said) == 1 else _summed_up(said)


def of_test() -> Message:
    """Whether a route works."""
    return Message(
        event="test",
        key="test",
        subject="A test message from agentops",
        what="This route works",
        why="You asked for a test message. Nothing waits for you because of it.",
        reason="Test",
        link=_link("home"),
        does="Open agentops",
    )


def _single(row: Notification) -> Message:
    if row.review is not None and row.event in _OF_REVIEWS:
        return _OF_REVIEWS[row.event](row.review)
    if row.event in _OF_RUNS:
        return _OF_RUNS[row.event](row.run)
    raise LookupError(f"{row.event} needs a review")


def _of_review(review: Review, *, event: str, lead: str = "") -> Message:
    """A run is parked: somebody has to decide."""
    run = review.run
    reason = ParkReason(review.reason)
    what = phrases.what(review)
    due_at = timezone.localtime(review.due_at)
    due = words.at(due_at, clock.now())
    subject = f"{what}: {reason.label.lower()}, {review.risk} risk, due {due}"
    return Message(
        event=event,
        key=_key(review),
        subject=f"{lead}: {subject}" if lead else subject,
        what=what,
        why=phrases.why(review, reason),
        reason=reason.label,
        agent=phrases.agent(run),
        submitter=run.submitter.get_username(),
        calls=phrases.last_calls(run),
        shows_calls=True,
        last_error=phrases.last_error(review),
        link=_link("reviews:detail", review.pk),
        does="Look at it and decide",
        after="Nothing happens until somebody decides on that page."
        " Opening it decides nothing.",
        risk=review.risk,
        due_at=due_at,
    )


def _of_closed(review: Review) -> Message:
    """What became of an item: nobody needs to look at it any more."""
    what, outcome = phrases.what(review), _outcome(review)
    return Message(
        event=events.CLOSED,
        key=_key(review),
        subject=f"{outcome}: {what}",
        what=what,
        why=f"{outcome}.",
        reason="Closed",
        agent=phrases.agent(review.run),
        submitter=review.run.submitter.get_username(),
        link=_link("reviews:detail", review.pk),
        does="See what became of it",
        after="It waits for nobody any more."
        if review.status != ReviewStatus.EXPIRED.value
        else "The run stays parked until somebody resumes or aborts it.",
        closes=True,
    )


def _outcome(review: Review) -> str:
    decision = review.decisions.filter(undone_at=None).select_related("actor").first()
    if decision is not None:
        return f"{registry.done(decision.kind)} by {decision.actor.get_username()}"
    if review.status == ReviewStatus.EXPIRED.value:
        return "Expired, nobody has decided"
    return "Closed without a decision"


def _of_parked(review: Review) -> Message:
    """To who asked for it; how others decide is not their business."""
    said = _of_run(
        review.run,
        event=events.PARKED,
        what="Your run waits for a person",
        why="It goes on once somebody has decided.",
    )
    answers = review.run.agent.submitter_answers
    if answers and review.reason == ParkReason.QUESTION.value:
        return _of_run(
            review.run,
            event=events.PARKED,
            what="Your run has a question for you",
            why="It goes on once you have answered.",
        )
    return said


def _of_expired(review: Review) -> Message:
    """To who asked for it: their run goes on only if somebody has it go on."""
    return _of_run(
        review.run,
        event=events.EXPIRED,
        what="Nobody answered your run in time",
        why="It stays parked until somebody goes on without an answer, asks again"
        " or ends it.",
    )


def _of_run(
    run: Run, *, event: str, what: str, why: str, after: str = "", brief: bool = True
) -> Message:
    return Message(
        event=event,
        key=f"run:{run.pk}:{event}",
        subject=f"{phrases.agent(run)}: {what[0].lower()}{what[1:]}",
        what=what,
        why=why,
        reason=event.capitalize(),
        agent=phrases.agent(run),
        submitter=run.submitter.get_username(),
        calls=() if brief else phrases.last_calls(run),
        shows_calls=not brief,
        last_error="" if brief else phrases.last_failure(run),
        link=_link("runs:detail", run.pk),
        does="Look at the run",
        after=after,
    )


Of = Mapping[str, Callable[..., Message]]
_OF_REVIEWS: Of = {
    events.OPENED: partial(_of_review, event=events.OPENED),
    events.REMINDER_HALF: partial(
        _of_review, event=events.REMINDER_HALF, lead="Half of its time is over"
    ),
    events.REMINDER_LATE: partial(
        _of_review, event=events.REMINDER_LATE, lead="Nearly overdue"
    ),
    events.OVERDUE: partial(_of_review, event=events.OVERDUE, lead="Overdue"),
    events.CLOSED: _of_closed,
    events.PARKED: _of_parked,
    events.EXPIRED: _of_expired,
}
_OF_RUNS: Of = {
    events.FINISHED: partial(
        _of_run,
        event=events.FINISHED,
        what="Your run has finished",
        why="Its result is on the page of the run.",
    ),
    events.ABORTED: partial(
        _of_run,
        event=events.ABORTED,
        what="Your run was aborted",
        why="A person ended it. What it had done stays done.",
    ),
    events.FAILED: partial(
        _of_run,
        event=events.FAILED,
        what="A run failed",
        why="It ended without a result, and no decision can bring it back.",
        after="Its effects stay as they are; the same task can be submitted again.",
        brief=False,
    ),
}
_SUMS = {
    events.OPENED: "{} runs wait for a decision",
    events.REMINDER_HALF: "{} runs still wait: half of their time is over",
    events.REMINDER_LATE: "{} runs still wait and are nearly overdue",
    events.OVERDUE: "{} runs are overdue",
    events.CLOSED: "{} items are closed",
    events.PARKED: "{} of your runs wait for a person",
    events.EXPIRED: "{} of your runs were not answered in time",
    events.FINISHED: "{} of your runs have finished",
    events.ABORTED: "{} of your runs were aborted",
    events.FAILED: "{} runs failed",
}


def _summed_up(said: Sequence[Message]) -> Message:
    first = said[0]
    sum_of_all = _SUMS[first.event].format(len(said))
    to_decide = first.event in (*events.TO_DECIDE, events.CLOSED)
    return Message(
        event=first.event,
        key=first.key,
        subject=sum_of_all,
        what=sum_of_all,
        link=_link("reviews:inbox" if to_decide else "runs:list"),
        does="Open the inbox" if to_decide else "See the runs",
        after="Opening a link decides nothing." if to_decide else "",
        risk=first.risk,
        closes=first.closes,
        items=tuple(said),
    )


def _key(review: Review) -> str:
    return f"review:{review.pk}"


def _link(name: str, pk: UUID | None = None) -> str:
    path = reverse(name, args=[pk] if pk else [])
    return product().base_url.rstrip("/") + path
