"""The ordinary step on PostgreSQL: one statement, one commit, one round trip.

It writes exactly what `recording.commit` writes through the ORM; one set of tests
runs over both.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from runs.records import Record

_RUN = """
WITH r AS (
  UPDATE runs_run SET sequence = %s, state = %s, steps_used = steps_used + %s,
    active_ms = active_ms + %s, tokens = tokens + %s, cost = cost + %s,
    is_estimated = is_estimated OR %s, claims = 0, claims_alone = 0
  WHERE id = %s AND lease_owner = %s AND sequence = %s
  RETURNING id
), s AS (
  UPDATE runs_step SET status = %s, response = %s::jsonb, finished_at = %s,
    started_at = coalesce(%s, started_at), error_class = %s, error_text = %s,
    confidence = %s, attempts = %s, input_tokens = %s, cached_tokens = %s,
    output_tokens = %s, cost = cost + %s, is_estimated = %s
  FROM r WHERE run_id = r.id AND number = %s
), n AS (
  INSERT INTO runs_step (run_id, number, kind, status, state, name, plan_item, request,
    digest, attempts, error_class, error_text, input_tokens, cached_tokens,
    output_tokens, cost, is_estimated, reserved_tokens, reserved_cost, planned_at)
  SELECT r.id, %s, %s, 'planned', %s, %s, %s::smallint, %s::jsonb,
    %s, 0, '', '', 0, 0, 0, 0, false, %s, %s, %s FROM r
)"""
_MOVE = """, t AS (
  INSERT INTO runs_transition (run_id, from_state, to_state, reason, actor, by_id, at)
  SELECT r.id, %s, %s, %s, %s, NULL, %s FROM r
)"""
_COUNT = " SELECT count(*) FROM r"


def advance_in_one_statement(record: Record) -> bool:
    """Write a plain record; False if the fence did not hold (nothing is written)."""
    result, delta, fence, step = (
        record.result,
        record.delta,
        record.fence,
        record.steps[0],
    )
    if result is None:
        raise ValueError("a plain record has a result")
    values: list[Any] = [
        step.number,
        step.state.value,
        delta.steps,
        delta.active_ms,
        delta.tokens,
        delta.cost,
        delta.is_estimated,
        fence.run_id,
        fence.owner,
        fence.sequence,
        result.status.value,
        json.dumps(result.response),
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
        step.number,
        step.kind.value,
        step.state.value,
        step.name,
        step.plan_item,
        json.dumps(step.request),
        step.digest,
        step.reserved_tokens,
        step.reserved_cost,
        step.planned_at,
    ]
    statement = _RUN
    for move in record.moves:
        statement += _MOVE
        values += [move.old.value, move.new.value, move.reason, move.actor, move.at]
    with connection.cursor() as cursor:
        cursor.execute(statement + _COUNT, values)
        return bool(cursor.fetchone()[0])
