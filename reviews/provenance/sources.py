"""What the model had read before it made a call, gathered from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from reviews.models import Review
from reviews.provenance.marks import Origin, Source, leaves
from runs.canonical import Json
from runs.models import Run, Step
from runs.progress import UPDATE_PLAN
from runs.states import StepKind, StepStatus
from runs.tools.base import titled
from runs.undone import UNDO

MOST_TEXT = 1_000_000
"""Characters of results that are searched, the newest first."""
MOST_STEPS = 1_000

_TELLING = (StepKind.TOOL.value, StepKind.DECISION.value)
_Row = tuple[int, str, str, Any, Any]


@dataclass(frozen=True)
class Gathered:
    """The sources of one call.

    `is_cut`: there is more than was taken. `entered` maps the path of a value that a
    reviewer put into this very call to (who, the value).
    """

    sources: list[Source]
    is_cut: bool = False
    entered: Mapping[str, tuple[str, Json]] = field(default_factory=dict)


def gather(
    review: Review, tool_settings: Mapping[str, Json], steps: Sequence[Step] = ()
) -> Gathered:
    """Task, configuration, results and people's words.

    `steps` are the run's newest ones in order, where they are at hand: what lies
    before them is one query, and none where there is nothing. Only what came before
    the reply that has the call counts: a call that follows in the same reply was
    written before the first one was answered. What the model itself has said (plans,
    replies, checks) is never a source, nor is a call that failed, nor a decision that
    was taken back: the model has read nothing of it.
    """
    before = _reply(review, steps)
    sources = list(_given(review.run, tool_settings))
    entered: dict[str, tuple[str, Json]] = {}
    undone: set[int] = set()
    size, is_cut = 0, False
    for taken, row in enumerate(_steps(review, steps)):
        if size > MOST_TEXT or taken >= MOST_STEPS:
            is_cut = True
            break
        undone.add(_undoes(row))
        if row[0] in undone:
            continue
        if row[1] == StepKind.DECISION and row[0] > before:
            entered = {**_edited(row, review), **entered}
        elif row[0] < before:
            found = list(_of_step(row))
            sources += found
            size += sum(len(source.text.text) for source in found)
    return Gathered(sources, is_cut, entered)


def _reply(review: Review, steps: Sequence[Step]) -> int:
    """The number of the model's step that has the call."""
    for step in reversed(steps):
        if step.number <= review.step_number and _is_reply(step):
            return step.number
    if steps and steps[0].number == 1:
        return review.step_number
    found = Step.objects.filter(
        run_id=review.run_id,
        number__lte=review.step_number,
        kind=StepKind.MODEL.value,
        status=StepStatus.SUCCEEDED.value,
    )
    newest = found.order_by("-number").values_list("number", flat=True).first()
    return review.step_number if newest is None else newest


def _is_reply(step: Step) -> bool:
    return step.kind == StepKind.MODEL and step.status == StepStatus.SUCCEEDED


def _given(run: Run, tool_settings: Mapping[str, Json]) -> Iterator[Source]:
    """What there was from the start."""
    config = run.version.config
    yield Source(Origin.TASK, "the task", run.task)
    if run.inputs:
        yield Source(Origin.TASK, "the form", run.inputs)
    yield Source(Origin.ADMIN, "the agent\u2019s prompt", str(config.get("prompt", "")))
    if config.get("review_when"):
        yield Source(Origin.ADMIN, "the review rules", config["review_when"])
    if run.guidance:
        yield Source(Origin.ADMIN, "guidance kept for the agent", run.guidance)
    if tool_settings:
        yield Source(Origin.ADMIN, "the tool\u2019s settings", dict(tool_settings))
    yield Source(Origin.ADMIN, "the installation", settings.DEFAULT_FROM_EMAIL)


def _steps(review: Review, steps: Sequence[Step]) -> Iterator[_Row]:
    """Results and decisions up to the call, the newest first, a few at a time."""
    for step in reversed(steps):
        is_good = step.status == StepStatus.SUCCEEDED and step.kind in _TELLING
        if is_good and step.number <= review.sequence and step.name != UPDATE_PLAN:
            yield step.number, step.kind, step.name, step.request, step.response
    first = steps[0].number if steps else review.sequence + 1
    if first > 1:
        yield from _earlier(review, min(first, review.sequence + 1))


def _earlier(review: Review, before: int) -> Iterable[_Row]:
    found = Step.objects.filter(
        run_id=review.run_id,
        number__lt=before,
        kind__in=_TELLING,
        status=StepStatus.SUCCEEDED.value,
    )
    columns = ("number", "kind", "name", "request", "response")
    rows = found.exclude(name=UPDATE_PLAN).order_by("-number").values_list(*columns)
    return rows[: MOST_STEPS + 1].iterator(chunk_size=50)


def _undoes(row: _Row) -> int:
    """The number of the decision that this row takes back, 0 for none."""
    if row[1] != StepKind.DECISION or row[2] != UNDO:
        return 0
    return int((row[4] or {}).get("undoes") or 0)


def _of_step(row: _Row) -> Iterator[Source]:
    number, kind, name, request, response = row
    request = request if isinstance(request, dict) else {}
    response = response if isinstance(response, dict) else {}
    if kind == StepKind.DECISION:
        yield from _said(number, request, response)
    elif not response.get("is_error"):
        yield _result(number, name, request, response)


def _result(
    number: int, name: str, request: dict[str, Json], response: dict[str, Json]
) -> Source:
    result = response.get("result")
    return Source(
        Origin.UNTRUSTED if response.get("untrusted") else Origin.TOOL,
        titled(name),
        response.get("text", "") if result is None else result,
        number,
        request.get("arguments"),
    )


def _said(
    number: int, request: dict[str, Json], response: dict[str, Json]
) -> Iterator[Source]:
    """A person's own words: what they let stand of a call is not theirs."""
    who = f"words of {request.get('actor') or 'a reviewer'}"
    for part in ("text", "note", "result"):
        if response.get(part):
            yield Source(Origin.PERSON, who, response[part], number)
    changed = _changed(request.get("arguments"), response.get("arguments"))
    if changed:
        yield Source(Origin.PERSON, who, changed, number)


def _edited(row: _Row, review: Review) -> dict[str, tuple[str, Json]]:
    """What a reviewer changed in the call that waits, by path."""
    request, response = row[3] or {}, row[4] or {}
    if request.get("call_id") != (review.proposal or {}).get("id"):
        return {}
    changed = _changed(request.get("arguments"), response.get("arguments"))
    who = str(request.get("actor") or "a reviewer")
    return {path: (who, value) for path, value in changed.items()}


def _changed(was: Json, is_now: Json) -> dict[str, Json]:
    if not isinstance(is_now, dict):
        return {}
    old = {path: value for path, _, value in leaves(was)}
    missing = object()
    return {
        path: value
        for path, _, value in leaves(is_now)
        if old.get(path, missing) != value
    }
