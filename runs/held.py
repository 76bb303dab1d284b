"""A run in a driver's hands: its row as last written, and its history in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from uuid import UUID

from runs import history, policy, records
from runs.errors import LeaseLost
from runs.facts import Facts
from runs.history import Opening
from runs.models import Run
from runs.policy import Live
from runs.progress import Progress
from runs.records import Delta, Fence, Result, Settled
from runs.results import Recorded
from runs.states import StepKind, StepStatus
from runs.tools.base import IRREVERSIBLE
from runs.values import StepValue
from runs.work import Outcome

Late = tuple[Result, Delta, Settled | None]
"""What is to be kept of a step if the run turns out to be lost."""


@dataclass
class Held:
    """A run in a driver's hands: its row as last written, and its history."""

    run: Run
    owner: str
    opened: Opening
    progress: Progress
    facts: Facts
    live: Live
    current: StepValue | None
    late: Late | None = None

    @property
    def run_id(self) -> UUID:
        return self.run.id

    @property
    def fence(self) -> Fence:
        return Fence(self.run.id, self.facts.sequence, self.owner)

    @property
    def actor(self) -> str:
        """The worker as people read it: host and process, without the uniqueness."""
        host, _, rest = self.owner.partition("/")
        return f"worker {host}:{rest.split(':')[1]}" if rest.count(":") > 1 else host

    def refresh(self) -> None:
        """Meet the policy of the moment."""
        live = policy.live()
        if live is not self.live:
            self.live = live
            self.facts = replace(self.facts, toolbox=live.toolbox(self.facts.config))


def load(run_id: UUID, owner: str) -> Held:
    """Load a claimed run; raises `LeaseLost` if it is not this owner's. Reads only."""
    found = load_all([run_id], owner)
    if run_id not in found:
        raise LeaseLost
    return found[run_id]


def load_all(run_ids: Collection[UUID], owner: str) -> dict[UUID, Held]:
    """Load those of the runs that are this owner's, in two queries. Reads only."""
    runs = list(
        Run.objects.select_related("version").filter(id__in=run_ids, lease_owner=owner)
    )
    steps = history.steps_of([run.id for run in runs if run.sequence])
    return {run.id: _held(run, owner, steps.get(run.id, [])) for run in runs}


def _held(run: Run, owner: str, steps: list[StepValue]) -> Held:
    opened, live = history.opening(run), policy.live()
    current = steps[-1] if steps and steps[-1].status.is_open else None
    return Held(
        run=run,
        owner=owner,
        opened=opened,
        progress=Progress.of(opened.messages, steps),
        facts=history.facts(run, opened, live),
        live=live,
        current=current,
    )


def result_of(step: StepValue, recorded: Recorded, outcome: Outcome) -> Result:
    usage = recorded.usage
    return Result(
        number=step.number,
        status=recorded.status,
        response=recorded.response,
        finished_at=outcome.finished_at,
        started_at=outcome.started_at,
        error_class=recorded.error_class,
        error_text=recorded.error_text,
        confidence=recorded.confidence,
        attempts=step.attempts + 1,
        input_tokens=usage.input if usage else 0,
        cached_tokens=usage.cached if usage else 0,
        output_tokens=usage.output if usage else 0,
        cost=recorded.cost,
        is_estimated=recorded.is_estimated,
    )


def settled(step: StepValue, result: Result) -> Settled | None:
    """How the ledger's row of a finished irreversible call is to read."""
    request = step.request or {}
    if step.kind is not StepKind.TOOL or request.get("effect") != IRREVERSIBLE:
        return None
    given = (result.response or {}).get("result")
    return request["key"], records.effect_of(result.status), given


def delta_of(result: Result, outcome: Outcome) -> Delta:
    return Delta(
        steps=1,
        active_ms=outcome.elapsed_ms,
        tokens=result.input_tokens + result.output_tokens,
        cost=result.cost,
        is_estimated=result.is_estimated,
    )


def take(held: Held, step: StepValue, recorded: Recorded, elapsed_ms: int) -> None:
    """Bring the finished step into what is held in memory."""
    usage = recorded.usage
    done = replace(
        step,
        status=recorded.status,
        response=recorded.response,
        error_class=recorded.error_class,
        error_text=recorded.error_text,
        attempts=step.attempts + 1,
        input_tokens=usage.input if usage else 0,
    )
    held.progress.take(done)
    held.current = None
    used = held.facts.used
    held.facts = replace(
        held.facts,
        used=replace(
            used,
            steps=used.steps + (recorded.status is not StepStatus.SKIPPED),
            seconds=used.seconds + elapsed_ms / 1000,
            tokens=used.tokens + (usage.total if usage else 0),
            money=used.money + recorded.cost,
        ),
    )
