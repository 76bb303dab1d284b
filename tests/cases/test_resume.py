"""Cases R and T06: going on after a death, and shortening what was said."""

from __future__ import annotations

import json

import pytest

from runs import engine
from runs.conversation import opening
from runs.models import Effect, Run
from runs.progress import Progress
from runs.services import start
from runs.states import StepKind, StepStatus
from runs.values import StepValue, VerdictKind
from runs.work import Work
from tests.cases.conftest import case_agent
from tests.flows.conftest import decide
from tests.support import strict
from tests.support.acts import acts
from tests.support.advance import OWNER, provider, release, settle, take
from tests.support.replies import calls, check, text


def turns(messages: int) -> list[StepValue]:
    """Turns of three calls each, with long results, that make so many messages."""
    sizes = [3] * (messages // 4)
    rest = messages % 4
    if rest > 1:
        sizes.append(rest - 1)
    steps = [_nudge()] if rest == 1 else []
    for turn, size in enumerate(sizes):
        ids = [f"c{turn}_{place}" for place in range(size)]
        called = [{"id": i, "name": "echo", "arguments": "{}"} for i in ids]
        steps.append(
            StepValue(
                len(steps) + 1,
                StepKind.MODEL,
                StepStatus.SUCCEEDED,
                response={"calls": called, "content": ""},
            )
        )
        steps += [
            StepValue(
                len(steps) + 1 + place,
                StepKind.TOOL,
                StepStatus.SUCCEEDED,
                name="echo",
                request={"call_id": call_id, "arguments": {}},
                response={"text": f"{place}" * 900},
            )
            for place, call_id in enumerate(ids)
        ]
    return steps


def _nudge() -> StepValue:
    said = {"calls": [], "content": "", "note": "Go on.", "nudge": "empty"}
    return StepValue(1, StepKind.MODEL, StepStatus.SUCCEEDED, response=said)


@pytest.mark.parametrize("length", range(2, 61))
def test_r01_whatever_is_shortened_every_call_stays_answered_once(length):
    steps = turns(length - 2)
    for upto in range(length % 3, len(steps) + 1, 3):
        progress = Progress.of(opening("You work.", "Work."), steps)
        assert len(progress.messages) == length

        shorten = StepValue(99, StepKind.COMPACTION, StepStatus.SUCCEEDED)
        progress.take(
            StepValue(**{**vars(shorten), "request": {"upto": upto}, "response": {}})
        )

        body = {"model": "m", "messages": progress.messages}
        assert strict.problems(body) == []


@pytest.mark.django_db
def test_r02_task_guidance_and_pending_call_survive_word_for_word(boss):
    task = "Post this: " + "word " * 100
    run = start(agent=case_agent(context_window=9000), by=boss, task=task)
    nearly_full = {"prompt_tokens": 8000, "completion_tokens": 9, "total_tokens": 8009}
    long = [
        calls(("odd", {"kind": "long"})),
        calls(("echo", {"text": "b" * 900})),
        calls(("post", {"what": "the letter " * 90}), usage=nearly_full),
    ]

    with provider(*long, check(0.2), text("Done.")) as model:
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE, note="Mind the stamp.")
        run = settle(run)

    said = model.requests[-1].messages
    called = said[-3]["tool_calls"][0]["function"]["arguments"]
    kinds = list(run.steps.values_list("kind", flat=True))
    assert run.state == "completed"
    assert kinds.count("compaction") >= 1
    assert (said[0]["content"], said[1]["content"]) == (
        "You post letters.",
        task.strip(),
    )
    assert json.loads(called) == {"what": "the letter " * 90}
    assert said[-1]["content"].endswith("Mind the stamp.")
    assert len(str(run.steps.get(name="odd").response)) > 500_000


def dies_in_the_act(run: Run, name: str) -> None:
    """The process ends after the effect of this tool and before anything is saved."""
    take(run)
    held = engine.open(run.pk, OWNER)
    following = engine.begin(held, engine.proceed(held))  # type: ignore[arg-type]
    while isinstance(following, Work):
        outcome = following.perform()
        if held.current and held.current.name == name and following.is_irreversible:
            break
        following = engine.record(held, outcome)
        if isinstance(following, Work):
            following = engine.begin(held, following)
    release(run)


@pytest.mark.django_db
def test_r04_an_act_nobody_can_trace_is_not_done_again_by_itself(run):
    with provider(calls(("post", {"what": "x"})), check(0.9)):
        dies_in_the_act(run, "post")
        run = settle(run)

    assert (run.park_reason, len(acts())) == ("outcome_unknown", 1)
    assert Effect.objects.get().status == "unknown"


@pytest.mark.django_db
def test_r04_an_act_that_can_be_traced_is_found(run):
    with provider(calls(("register", {"what": "x"})), check(0.9), text("Done.")):
        dies_in_the_act(run, "register")
        run = settle(run)

    assert (run.state, len(acts())) == ("completed", 1)
    assert Effect.objects.get().result == {"posted": "x"}


@pytest.mark.django_db
def test_t06_the_same_call_has_the_same_key_in_every_try(run, boss):
    with provider(calls(("lost", {"what": "x"})), check(0.9), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.OUTCOME, happened=False)
        run = settle(run)

    assert run.park_reason == "outcome_unknown"
    assert len({act["key"] for act in acts()}) == 1


@pytest.mark.django_db
def test_t06_a_finished_key_gives_the_stored_result(run):
    with provider(calls(("post", {"what": "x"})), check(0.9), text("Done.")) as model:
        take(run)
        held = engine.open(run.pk, OWNER)
        following = engine.proceed(held)
        while isinstance(following, Work) and not following.is_irreversible:
            following = engine.record(held, following.perform())
        finished(run, held.current)
        run = settle(run)

    assert run.state == "completed"
    assert acts() == []
    assert json.loads(model.requests[-1].tool_results[0]) == {"posted": "before"}


def finished(run: Run, step: StepValue | None) -> None:
    """Another run of the same root has done this call already."""
    assert step
    Effect.objects.create(
        key=step.request["key"],
        root=run,
        run=run,
        step_number=step.number,
        tool="post",
        arguments_digest=step.request["seal"]["arguments"],
        occurrence=1,
        status="done",
        result={"posted": "before"},
        owner="somebody",
        started_at=run.created_at,
    )
