"""Tools of an app of its own (AGENTOPS_APPS): they act on a file and no more."""

from __future__ import annotations

import time

from runs.tools.base import (
    Context,
    Effect,
    Reconciled,
    Reconciliation,
    tool,
)
from tests.support import acts

TAKES_S = 0.1


@tool(effect=Effect.IDEMPOTENT, keeps_deadline=True)
def mark(what: str, context: Context) -> str:
    """Make a mark, which may be made twice."""
    acts.write("mark", what, context.key)
    time.sleep(TAKES_S)
    return "marked"


def _trace(arguments: dict[str, object], context: Context) -> Reconciliation:
    if acts.has_happened(context.key):
        return Reconciliation(Reconciled.HAPPENED, "traced")
    return Reconciliation(Reconciled.NOT_HAPPENED)


@tool(effect=Effect.IRREVERSIBLE, keeps_deadline=True, reconcile=_trace)
def hand_in(what: str, context: Context) -> str:
    """Hand a form in, which can be traced."""
    time.sleep(TAKES_S / 2)
    acts.write("hand_in", what, context.key)
    time.sleep(TAKES_S)
    return "handed in"
