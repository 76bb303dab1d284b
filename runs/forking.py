"""Forking: a new run that has another one's steps up to a point, and goes on there.

A fork shares the root of its original, and with it the idempotency keys: what has
been done outside is served from the ledger, never repeated. It has its own budgets,
unspent: what the copied steps cost was paid by the original.
"""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from agentops import clock
from runs import guidance, history, points, queue, states
from runs.errors import BadInput, NotPermitted, Stale
from runs.models import Agent, Run, Step, Transition
from runs.progress import Progress
from runs.records import BAD
from runs.states import RunState, StepKind, StepStatus

DECIDE, SEE_ALL = "reviews.decide_review", "runs.view_all_runs"
POINTS = (StepKind.PLAN, StepKind.MODEL, StepKind.CHECK)
"""What can be done anew: questions to a model, never an act or a decision."""
COPIED = (
    "agent",
    "version",
    "submitter",
    "task",
    "inputs",
    "guidance",
    "system_digest",
    "tools_digest",
    "limits",
    "restored_at",
    "search_text",
)
_WAY = {
    RunState.IDLE: (),
    RunState.PLANNING: (RunState.PLANNING,),
    RunState.EXECUTING: (RunState.EXECUTING,),
    RunState.OBSERVING: (RunState.EXECUTING, RunState.OBSERVING),
}


def may_fork(run: Run, by: User) -> bool:
    """Those who may decide on the runs of its agent. At most one query."""
    if not by.has_perm(DECIDE):
        return False
    if by.has_perm(SEE_ALL):
        return True
    return Agent.objects.decided_by(by).filter(pk=run.agent_id).exists()


def rests(run: Run) -> bool:
    """Only a run that nobody takes forward can be forked."""
    state = RunState(run.state)
    return state.is_final or state is RunState.AWAITING_HUMAN


def places(run: Run, most: int = 50) -> list[Step]:
    """The newest steps from which it can be done again, newest first. One query."""
    kinds = [kind.value for kind in POINTS]
    steps = run.steps.filter(kind__in=kinds).exclude(status=StepStatus.SKIPPED.value)
    return list(steps.order_by("-number")[:most])


@points.write("fork")
def fork(run_id: UUID, step_number: int, *, by: User) -> Run:
    """Start a run that does the numbered step anew, with all steps before it.

    One transaction, or part of the caller's; locks the original's row, wakes a
    driver. Raises `NotPermitted`, `Stale` while the original is under way, and
    `BadInput` (field step) for a step that is no place to start from.
    """
    with transaction.atomic():
        lock = Run.objects.select_for_update(no_key=True).filter(pk=run_id)
        lock.values_list("pk").first()
        run = Run.objects.select_related("version").get(pk=run_id)
        _check(run, step_number, by)
        made = _made(run, step_number)
        _copy_steps(run, made)
        _write_moves(run, made, by)
        guidance.given_to(made, list(run.guided_by.all()))
        queue.wake()
        points.reach("inside fork")
    return made


def _check(run: Run, number: int, by: User) -> None:
    if not may_fork(run, by):
        raise NotPermitted("You do not decide on the runs of this agent.")
    if not rests(run):
        raise Stale("The run is under way. Cancel it, or wait until it rests.")
    step = run.steps.filter(number=number).first()
    kinds = {kind.value for kind in POINTS}
    if step is None or step.kind not in kinds or step.status == StepStatus.SKIPPED:
        raise BadInput({"step": "A run cannot be retried from this step."})


def _made(run: Run, number: int) -> Run:
    now = clock.now()
    opening = history.opening(run).messages
    progress = Progress.of(opening, history.steps(run, before=number))
    return Run.objects.create(
        **{name: getattr(run, name) for name in COPIED},
        root_id=run.root_id or run.pk,
        forked_from=run,
        fork_step=number,
        sequence=number - 1,
        state=_state(run, number).value,
        plan=progress.plan_now(),
        plan_revision=progress.plan_revision,
        had_error=_had_error(run, number),
        created_at=now,
        wake_at=now,
    )


def _had_error(run: Run, number: int) -> bool:
    """Did any step fail that the fork has, too? Lists find it by that."""
    return (
        run.had_error and run.steps.filter(number__lt=number, status__in=BAD).exists()
    )


def _state(run: Run, number: int) -> RunState:
    """Where the original stood, waits for people aside."""
    before = run.steps.filter(number__lt=number)
    working = before.exclude(state=RunState.AWAITING_HUMAN.value)
    found = working.order_by("-number").values_list("state", flat=True).first()
    return RunState(found) if found else RunState.IDLE


def _copy_steps(run: Run, made: Run) -> None:
    """In one statement: no history is loaded. Failed tries stay the original's."""
    owner = Step._meta.get_field("run")
    fields = [f for f in Step._meta.concrete_fields if f not in {owner, Step._meta.pk}]
    quote = connection.ops.quote_name
    table = quote(Step._meta.db_table)
    columns = ", ".join(quote(str(field.column)) for field in fields)
    sql = (
        f"INSERT INTO {table} ({quote(str(owner.column))}, {columns})"  # noqa: S608
        f" SELECT %s, {columns} FROM {table}"
        f" WHERE {quote(str(owner.column))} = %s AND number < %s"
    )
    ids = [Run._meta.pk.get_db_prep_value(r.pk, connection) for r in (made, run)]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*ids, made.fork_step])


def _write_moves(run: Run, made: Run, by: User) -> None:
    """The way to the state it starts in, each move a legal one."""
    old, rows = RunState.IDLE, []
    why = f"forked from run {str(run.pk)[:8]} at step {made.fork_step}"
    for new in _WAY[RunState(made.state)]:
        states.check(old, new)
        rows.append(
            Transition(
                run=made,
                from_state=old.value,
                to_state=new.value,
                reason=why,
                actor=by.get_username(),
                by=by,
                at=made.created_at,
            )
        )
        old = new
    Transition.objects.bulk_create(rows)
