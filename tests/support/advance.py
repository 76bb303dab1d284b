"""The smallest driver: takes a run forward in the test's own thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentops import clock
from runs import engine, leases
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Run
from runs.work import Rest, Work
from tests.support.provider import BASE_URL, Entry, ScriptedProvider

OWNER = "test:1:driver"


@contextmanager
def provider(*script: Entry, **options: object) -> Iterator[ScriptedProvider]:
    """A scripted model behind the real client, strict about what it is sent."""
    scripted = ScriptedProvider(*script, **options)  # type: ignore[arg-type]
    client = OpenAIClient(BASE_URL, "sk-test", transport=scripted.transport)
    with using(client):
        yield scripted
    scripted.assert_clean()


@contextmanager
def served(*script: Entry, **options: object) -> Iterator[ScriptedProvider]:
    """The same over a real socket."""
    scripted = ScriptedProvider(*script, **options)  # type: ignore[arg-type]
    with scripted.serve() as base_url:
        client = OpenAIClient(base_url, "sk-test")
        with using(client):
            yield scripted
        client.close()
    scripted.assert_clean()


def take(run: Run, owner: str = OWNER) -> None:
    """Lease this run to `owner`, as a claim would."""
    Run.objects.filter(pk=run.pk).update(
        lease_owner=owner, lease_until=clock.later(15), wake_at=clock.now()
    )


def advance(run: Run, *, steps: int | None = None, owner: str = OWNER) -> Run:
    """Take the run forward until it rests, or by so many acts; returns it fresh."""
    take(run, owner)
    held = engine.open(run.pk, owner)
    following: Work | Rest = engine.proceed(held)
    done = 0
    while isinstance(following, Work) and done != steps:
        following = engine.begin(held, following)
        if isinstance(following, Work):
            following = engine.record(held, following.perform())
        done += 1
    return Run.objects.get(pk=run.pk)


def settle(run: Run, owner: str = OWNER) -> Run:
    """Take the run to its end or its park, going straight through waits."""
    run = advance(run, owner=owner)
    while run.wake_at is not None:
        run = advance(run, owner=owner)
    return run


def park_of(run: Run) -> dict[str, Any]:
    """Why the run waits for a person."""
    assert run.park, f"the run is {run.state}"
    return dict(run.park)


def release(run: Run) -> None:
    """Let go of the run as the death of its driver would."""
    leases.end(OWNER)
    Run.objects.filter(pk=run.pk).update(lease_owner="", lease_until=None)
