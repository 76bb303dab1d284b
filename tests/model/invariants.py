"""What holds at every moment of every history, read from the rows alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from reviews.models import Decision, Review
from runs import history
from runs.budgets import KINDS, Used, limit_of
from runs.leases import POISON_AFTER
from runs.models import Effect, Run, Step
from runs.states import ParkReason, RunState
from tests.model.tools import FOR_GOOD, outside
from tests.support import sound, strict
from tests.support.sound import DONE, OPEN


class Rows:
    """All rows of the moment, by run; one query a table."""

    def __init__(self) -> None:
        runs = Run.objects.select_related("version", "agent").order_by("created_at")
        self.runs = list(runs)
        self.pasts = sound.pasts(self.runs)
        reviews = Review.objects.filter(kind="waiting").order_by("opened_at")
        self.reviews = _by_run(reviews)
        self.effects = list(Effect.objects.all())
        self.decisions: dict[UUID, list[Decision]] = defaultdict(list)
        for decision in Decision.objects.select_related("review").order_by("pk"):
            self.decisions[decision.review.run_id].append(decision)

    def waiting(self, *statuses: str) -> list[Review]:
        """What people can still decide on, as their pages show it."""
        found = []
        for run in self.runs:
            for review in self.reviews[run.pk] if run.parked_at else ():
                if review.status in (statuses or ("open", "expired")):
                    review.run = run
                    found.append(review)
        return found

    def decided(self) -> list[Decision]:
        """All decisions, the newest first."""
        found = [decision for some in self.decisions.values() for decision in some]
        return sorted(found, key=lambda decision: -decision.pk)


def _by_run(rows: Any) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.run_id].append(row)
    return found


def check(rows: Rows) -> None:
    """Everything that can be said of rows; raises AssertionError naming the run."""
    for past in rows.pasts:
        run = past.run
        sound.check(past)
        _one_review_waits(run, rows.reviews[run.pk])
        _each_decision_is_a_step(past.own, rows.decisions[run.pk])
        _budgets_hold(run, past.own, past.attempts)
    _acts_are_counted(rows)


def _one_review_waits(run: Run, reviews: Sequence[Review]) -> None:
    waiting = [
        review
        for review in reviews
        if review.status == "open"
        or (review.status == "expired" and review.sequence == run.sequence)
    ]
    wanted = int(run.state == RunState.AWAITING_HUMAN)
    if wanted:
        assert len(waiting) == 1, f"{run} is parked with {len(waiting)} items"
        assert waiting[0].sequence == run.sequence, f"{run}: an item of another park"
    else:
        still_open = [review for review in waiting if review.status == "open"]
        assert not still_open, f"{run} is {run.state} and has an open item"


def _each_decision_is_a_step(own: Sequence[Any], decisions: Sequence[Decision]) -> None:
    standing = [d.review_id for d in decisions if d.undone_at is None]
    assert len(standing) == len(set(standing)), "two decisions stand on one item"
    made = [step for step in own if step.kind == "decision"]
    undone = [step for step in made if step.name == "undo"]
    assert len(made) - len(undone) == len(decisions), "decisions and steps differ"
    assert len(undone) == len(decisions) - len(standing), "undos and steps differ"


def _budgets_hold(run: Run, own: Sequence[Any], attempts: Sequence[Any]) -> None:
    """Used is within the limit, or was so before the last call that was charged."""
    used = Used(run.steps_used, run.active_ms / 1000, run.cost, run.tokens)
    open_step = own[-1] if own and own[-1].status in OPEN else None
    bound = _last_charge(own, attempts)
    for kind in KINDS.values():
        limit = limit_of(run.limits, kind)
        if limit is None:
            continue
        over = kind.used(used) - limit
        assert over <= kind.used(bound), f"{run}: {kind.name} is {over} over {limit}"
        if open_step is not None and not open_step.attempts:
            needs = {
                "tokens": open_step.reserved_tokens,
                "money": open_step.reserved_cost,
                "steps": 1,
            }
            assert over + needs.get(kind.name, 0) <= 0, f"{run}: {kind.name} too short"


def _last_charge(own: Sequence[Any], attempts: Sequence[Any]) -> Used:
    """What the last call took that was charged to the run."""
    charged = [step for step in own if step.started_at and step.kind != "decision"]
    ended = [step for step in charged if step.finished_at]
    if not ended and not attempts:
        return Used()
    tries = [attempt.finished_at - attempt.started_at for attempt in attempts[-1:]]
    if not ended:
        return Used(0, tries[0].total_seconds())
    last = ended[-1]
    took = max([last.finished_at - last.started_at, *tries])
    said = last.input_tokens + last.output_tokens
    return Used(0, took.total_seconds(), last.cost, said)


def _acts_are_counted(rows: Rows) -> None:
    for effect in rows.effects:
        done, denied = outside.done[effect.key], outside.denied[effect.key]
        assert done <= 1 + denied, f"{effect} happened {done} times"
        if effect.status == "not_done":
            assert done <= denied, f"{effect} happened, the ledger says it did not"
        if effect.status == "done" and not done:
            assert effect.key in outside.believed, f"{effect} is done, by nobody"
        if effect.key in outside.closed:
            by_hand = outside.closed[effect.key]
            assert done == by_hand, f"{effect} happened after a person did it by hand"


def bystanders_are_not_blamed(rows: Rows, died_alone: Mapping[UUID, int]) -> None:
    """What is parked as poison was alone with three drivers that died."""
    for run in rows.runs:
        if run.park_reason == ParkReason.POISON:
            deaths = died_alone[run.pk]
            assert deaths >= POISON_AFTER, f"{run} is blamed for {deaths} deaths"


def every_act_is_in_the_ledger() -> None:
    """No irreversible call was made, or counts as made, without a row of its key."""
    known = set(Effect.objects.values_list("key", flat=True))
    for step in Step.objects.filter(kind="tool", name__in=FOR_GOOD, status__in=DONE):
        key = (step.request or {}).get("key")
        assert not key or key in known, f"{step} left nothing in the ledger"
    assert set(outside.done) <= set(known) | outside.repeatable, "not in the ledger"


def prompts_are_proved(run: Run, most: int = 8) -> None:
    """The newest prompts can be rebuilt, and a strict provider would take each."""
    asked = Step.objects.filter(run=run, kind__in=["plan", "model", "check"])
    for step in list(asked.order_by("-number")[:most]):
        messages = history.prompt_of(run, step.number)
        found = strict.problems({"model": "any", "messages": messages})
        assert not found, f"{run}, step {step.number}: {found}"


def unchanged(before: Mapping[UUID, dict[str, Any]], rows: Rows) -> None:
    """Final runs stay as they were; of an aborted one the late result is counted."""
    for run in rows.runs:
        if run.pk in before:
            assert of_final(run) == before[run.pk], f"{run} changed after its end"


def of_final(run: Run) -> dict[str, Any]:
    columns = {field.attname: getattr(run, field.attname) for field in run._meta.fields}
    if run.state == RunState.ABORTED:
        for late in ("steps_used", "active_ms", "tokens", "cost", "is_estimated"):
            del columns[late]
    return columns
