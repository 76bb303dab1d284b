"""A driver's commit on PostgreSQL: one statement, one round trip.

It writes exactly what `recording.commit` writes through the ORM; one set of tests
runs over both. The server parses and plans each shape of statement once per
connection: every value goes as text and takes the type that the statement gives it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections

from runs.states import StepStatus

if TYPE_CHECKING:
    from runs.records import Planned, Record, Result

_RUN = """
WITH r AS (
  UPDATE runs_run SET sequence = %s, state = coalesce(%s, state),
    steps_used = steps_used + %s, active_ms = active_ms + %s, tokens = tokens + %s,
    cost = cost + %s, is_estimated = is_estimated OR %s, claims = 0, claims_alone = 0{}
  WHERE id = %s AND lease_owner = %s AND sequence = %s
  RETURNING id
)"""
_RESULT = """, s AS (
  UPDATE runs_step SET status = %s, response = %s, finished_at = %s,
    started_at = coalesce(%s, started_at), error_class = %s, error_text = %s,
    confidence = %s, attempts = %s, input_tokens = %s, cached_tokens = %s,
    output_tokens = %s, cost = cost + %s, is_estimated = is_estimated OR %s
  FROM r WHERE run_id = r.id AND number = %s AND status IN ('planned', 'started')
)"""
_PLANNED = """, n AS (
  INSERT INTO runs_step (run_id, number, kind, status, state, name, plan_item, request,
    digest, attempts, error_class, error_text, input_tokens, cached_tokens,
    output_tokens, cost, is_estimated, reserved_tokens, reserved_cost, planned_at)
  SELECT r.id, %s::integer, %s, 'planned', %s, %s, %s::smallint, %s::jsonb, %s, 0, '',
    '', 0, 0, 0, 0, false, %s::integer, %s::numeric, %s::timestamptz FROM r
)"""
_MOVES = """, t AS (
  INSERT INTO runs_transition (from_state, to_state, reason, actor, at, run_id)
  SELECT m.*, r.id FROM r, (VALUES {}) AS m
)"""
_MOVE = "(%s, %s, %s, %s, %s::timestamptz)"
_COUNT = " SELECT count(*) FROM r"
_JSON = frozenset({"plan", "park"})

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def fits(record: Record) -> bool:
    """Can one statement say it? A driver's record does, unless it settles an effect."""
    return (
        record.fence.owner != ""
        and record.fence.state is None
        and record.effect is None
        and len(record.steps) <= 1
        and all(step.status is StepStatus.PLANNED for step in record.steps)
    )


def write(record: Record) -> bool:
    """Write a record that fits; False if the fence did not hold (nothing is written).

    A transaction of its own, or part of the caller's.
    """
    result, steps, moves = record.result, record.steps, record.moves
    values = _run_values(record)
    if result is not None:
        values += _result_values(result)
    for step in steps:
        values += _planned_values(step)
    for move in moves:
        values += (move.old.value, move.new.value, move.reason, move.actor, move.at)
    statement = _statement(
        tuple(record.fields), result is not None, bool(steps), len(moves)
    )
    return _execute(statement, values) > 0


@lru_cache(maxsize=64)
def _statement(
    fields: tuple[str, ...], has_result: bool, has_step: bool, moves: int
) -> str:
    parts = [
        _RUN.format("".join(f", {name} = %s" for name in fields)),
        _RESULT if has_result else "",
        _PLANNED if has_step else "",
        _MOVES.format(", ".join([_MOVE] * moves)) if moves else "",
        _COUNT,
    ]
    return "".join(parts)


def _run_values(record: Record) -> list[Any]:
    delta, fence = record.delta, record.fence
    return [
        record.sequence,
        record.moves[-1].new.value if record.moves else None,
        delta.steps,
        delta.active_ms,
        delta.tokens,
        delta.cost,
        delta.is_estimated,
        *(_json(v) if name in _JSON else v for name, v in record.fields.items()),
        fence.run_id,
        fence.owner,
        fence.sequence,
    ]


def _result_values(result: Result) -> tuple[Any, ...]:
    return (
        result.status.value,
        _json(result.response),
        result.finished_at,
        result.started_at,
        result.error_class,
        result.error_text,
        result.confidence,
        result.attempts,
        result.input_tokens,
        result.cached_tokens,
        result.output_tokens,
        result.cost,
        result.is_estimated,
        result.number,
    )


def _planned_values(step: Planned) -> tuple[Any, ...]:
    return (
        step.number,
        step.kind.value,
        step.state.value,
        step.name,
        step.plan_item,
        _json(step.request),
        step.digest,
        step.reserved_tokens,
        step.reserved_cost,
        step.planned_at,
    )


def _execute(statement: str, values: Sequence[Any]) -> int:
    """Run it as a statement prepared on Django's own connection; its one number.

    Django's cursors bind on the client and never prepare, so allowing it changes
    nothing for them. Behind a pooler of transactions, which
    `DISABLE_SERVER_SIDE_CURSORS` tells of, nothing is prepared.
    """
    from psycopg import Cursor

    django = connections[DEFAULT_DB_ALIAS]
    django.close_if_health_check_failed()
    django.ensure_connection()
    django.validate_no_broken_transaction()
    inner = django.connection
    is_pooled = django.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]
    inner.prepare_threshold = None if is_pooled else 0
    texts = [v if v is None or type(v) is str else str(v) for v in values]
    with django.wrap_database_errors, Cursor(inner) as cursor:
        cursor.execute(statement, texts)
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _json(value: Any) -> str | None:
    return None if value is None else _encode(value)
