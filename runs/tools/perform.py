"""Carrying out one call of a tool within its deadline.

Three ways: in the calling thread (the tool keeps its deadline), in a thread that
is given up at the deadline, or in a child process that is killed then. What comes
back, or goes wrong, has the same shape in all three.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

from django.db import connections

from agentops import redaction
from runs.canonical import Json, clean, clean_text, shorten
from runs.classify import named
from runs.errors import (
    Fatal,
    NotSent,
    OutcomeUnknown,
    StepError,
    TimedOut,
    Transient,
)
from runs.tools.asking import Ended, without_ending
from runs.tools.base import (
    Arguments,
    Context,
    Effect,
    Preview,
    Reconciled,
    Reconciliation,
    ToolSpec,
)
from runs.tools.isolation import perform_in_child
from runs.tools.threads import MOST_LEFT, Crowded, LeftAlone, NotBegun, call_within

logger = logging.getLogger(__name__)

MOST_ROWS = 500
"""Of a preview."""
GRACE_S = 0.5
"""How much longer we wait for a tool that ends by itself, if a bit late."""


def perform(
    spec: ToolSpec,
    arguments: Arguments,
    context: Context,
    *,
    was_irreversible: bool = True,
) -> Json:
    """The tool's result, cleaned; raises a `StepError`, never anything else.

    For an irreversible call only `NotSent`, `InvalidCall` and `Fatal` say that
    nothing happened; a deadline, a `Transient` or an exception of another kind
    becomes `OutcomeUnknown`. `was_irreversible`: the call passed what such a one has
    to; where it did not, a tool that has become irreversible since is not called.
    """
    if spec.asks is not None:
        raise Fatal(f"{spec.name} is answered by a person, never performed.")
    arguments = spec.validate(arguments)
    irreversible = spec.effect_for(arguments) is Effect.IRREVERSIBLE
    if irreversible and not was_irreversible:
        raise Fatal(f"What {spec.name} does cannot be undone since this was planned.")
    _begin(context, irreversible)
    try:
        spec.vet(arguments, context.settings)
        return _way(spec)(spec, arguments, context)
    except StepError as error:
        raise _honest(error, irreversible) from error
    except Exception as error:
        logger.exception("%s failed", spec.name)
        raise _unexpected(error, irreversible) from error


def reconcile(spec: ToolSpec, arguments: Arguments, context: Context) -> Reconciliation:
    """Whether an irreversible call took effect; never raises.

    UNKNOWN, with the cause as evidence, when the tool cannot tell or fails.
    """
    if spec.reconcile is None:
        return Reconciliation(Reconciled.UNKNOWN, evidence="The tool cannot tell.")
    ask = spec.reconcile
    try:
        found = _given_up(spec, lambda: _answered(ask(arguments, context)), context)
        return cast("Reconciliation", found)
    except Exception as error:
        logger.exception("%s could not be reconciled", spec.name)
        return Reconciliation(Reconciled.UNKNOWN, evidence=_words(error))


def preview(spec: ToolSpec, arguments: Arguments, context: Context) -> Preview | None:
    """What a call would do, as text that can be shown; never raises.

    None where the tool has no preview, or its preview fails or takes too long.
    """
    if spec.preview is None:
        return None
    show = spec.preview
    try:
        found = _given_up(
            spec, lambda: _shown(show(arguments, context)), context, interrupts=True
        )
        return cast("Preview", found)
    except Exception as error:  # noqa: BLE001 - a page does without it
        logger.warning("The preview of %s failed: %s", spec.name, _words(error))
        return None


def _answered(found: Reconciliation) -> Reconciliation:
    evidence = _text(found.evidence)
    return Reconciliation(Reconciled(found.outcome), clean(found.result), evidence)


def _shown(found: Preview) -> Preview:
    """All of it as text, in rows of three; raises ValueError for more than a page."""
    rows = [tuple(map(_text, row)) for row in islice(found.fields, MOST_ROWS + 1)]
    if len(rows) > MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS} rows")
    fields = tuple((label, value, kind) for label, value, kind in rows)
    return Preview(_text(found.headline), fields, _text(found.warning))


def _text(value: Any) -> str:
    return redaction.hide(clean_text(str(value)))


def _begin(context: Context, irreversible: bool) -> None:
    try:
        context.deadline.remaining()
    except TimedOut:
        if irreversible:
            raise NotSent("The deadline passed before the call began.") from None
        raise


def _way(spec: ToolSpec) -> Callable[[ToolSpec, Arguments, Context], Any]:
    if spec.isolated:
        return perform_in_child
    return _here if spec.keeps_deadline else _in_thread


def _here(spec: ToolSpec, arguments: Arguments, context: Context) -> Any:
    with _connections_closed():
        return without_ending(spec.name, lambda: clean(spec.call(arguments, context)))


def _in_thread(spec: ToolSpec, arguments: Arguments, context: Context) -> Any:
    return _given_up(spec, lambda: clean(spec.call(arguments, context)), context)


def _given_up(
    spec: ToolSpec,
    call: Callable[[], Any],
    context: Context,
    *,
    interrupts: bool = False,
) -> Any:
    """Wait for the call until just after the deadline, then leave it alone.

    What it gives has to be cleaned in it: that may take its time, too. Raises
    `TimedOut`, and `NotSent` where too many calls of this tool hang in this process
    already.
    """
    patience = context.deadline.remaining() + GRACE_S
    try:
        return call_within(
            patience,
            lambda: without_ending(spec.name, call),
            owner=spec.name,
            interrupts=interrupts,
        )
    except NotBegun:
        raise NotSent(f"The process was too busy to begin {spec.name}.") from None
    except LeftAlone:
        raise TimedOut(f"{spec.name} did not answer within its deadline.") from None
    except Crowded:
        raise NotSent(
            f"{MOST_LEFT} calls of {spec.name} that were given up still go on in this"
            " process: no other is made until it is started again."
        ) from None


@contextmanager
def _connections_closed() -> Iterator[None]:
    """Close the connections of this thread that the call opened."""
    before = {connection.alias for connection in _open_connections()}
    try:
        yield
    finally:
        for connection in _open_connections():
            if connection.alias not in before:
                connection.close()


def _open_connections() -> list[Any]:
    return [c for c in connections.all(initialized_only=True) if c.connection]


def _honest(error: StepError, irreversible: bool) -> StepError:
    """The error, unless it promises more than an irreversible call can know."""
    doubtful = isinstance(error, TimedOut | Transient | Ended) and not isinstance(
        error, NotSent
    )
    if irreversible and doubtful:
        return OutcomeUnknown(error.message)
    return error


def _unexpected(error: Exception, irreversible: bool) -> StepError:
    kind = OutcomeUnknown if irreversible else Fatal
    return kind(_words(error))


def _words(error: Exception) -> str:
    return shorten(named(error))
