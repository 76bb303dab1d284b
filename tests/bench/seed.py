"""A database as large as a busy installation's: `python -m tests.bench.seed`.

    DATABASE_URL=postgres://… python -m tests.bench.seed --runs 100000

A handful of runs is made by the product itself: the sample agents with the demo model,
parked, decided and completed, and one long history. Then PostgreSQL multiplies their
rows, each copy with an id, a number in its task and times of its own. So every row has
the shape and size that the product writes, and the whole takes a few minutes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.bench import installation

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model

    from runs.models import Run

LONG = 200
"""Model calls of the long history: twice as many steps, less one."""
TOLD = {"AGENTOPS_PROVIDER": "demo", "AGENTOPS_UNDO_IRREVERSIBLE_S": "0"}
"""Beside a bench's own: the demo model, and approvals that take effect at once."""
DAYS = 180
"""The copies' times lie in so many days."""


@dataclass(frozen=True)
class Size:
    runs: int = 100_000
    steps: int = 2_000_000
    reviews: int = 5_000


def options(parser: argparse.ArgumentParser) -> None:
    for name, default in (("runs", 100_000), ("steps", 2_000_000), ("reviews", 5_000)):
        parser.add_argument(f"--{name}", type=int, default=default)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options(parser)
    given = parser.parse_args()
    installation.prepare(os.environ["DATABASE_URL"], **TOLD)
    print(seed(Size(given.runs, given.steps, given.reviews)))


def seed(size: Size) -> dict[str, int]:
    """Fill an empty, migrated database; returns how many rows each table has."""
    from reviews.models import Review
    from runs.models import Run, Step

    parked, done, long = _templates()
    with_steps = _Plan.of(size, parked, done, long)
    for run, copies, is_open in with_steps.copies:
        _multiply(run, copies, is_open)
    _sql("VACUUM ANALYZE")
    return {
        "runs": Run.objects.count(),
        "steps": Step.objects.count(),
        "reviews, open": Review.objects.open().count(),
        "reviews": Review.objects.count(),
    }


# ---- the runs that are copied


def _templates() -> tuple[list[Run], list[Run], Run]:
    """Runs that wait for a person, runs that have ended, and one with a long history."""
    from reviews.models import Review
    from reviews.samples import installation as samples
    from reviews.samples.people import install_people
    from runs.models import Price, Run
    from tests.bench.inline import driving

    Price.objects.create(model=installation.MODEL, input=1, output=2)
    submitter, operator, _ = install_people("of-a-bench")
    agents = samples.install()
    with driving() as driver:
        for agent in agents * 2:
            _submit(agent, submitter)
            driver.until_rest()
        waiting = list(Review.objects.open().order_by("opened_at"))
        for review in waiting[len(waiting) // 2 :]:
            _decide(review, operator)
            driver.until_rest()
    ended = list(Run.objects.exclude(finished_at=None))
    return [r.run for r in Review.objects.open()], ended, _long(operator)


def _submit(agent: Any, by: User) -> None:
    """As the form does, with its examples; what it demands of text is a sentence."""
    from runs.services import start

    fields = agent.input_schema.get("properties", {})
    inputs = {name: _example(shape) for name, shape in fields.items()}
    task = "" if agent.task_template else "Do what you are for."
    start(agent=agent, by=by, task=task, inputs=inputs)


def _example(shape: dict[str, Any]) -> Any:
    given = [*shape.get("examples", []), shape.get("default"), *shape.get("enum", [])]
    return next((value for value in given if value is not None), "as usual")


def _decide(review: Any, by: User) -> None:
    """With the first decision that needs no more than words."""
    from reviews import services
    from reviews.decisions import registry

    offered = {kind.kind for kind in registry.offered(review)}
    kind = next(k for k in ("approve", "answer", "guide", "retry") if k in offered)
    services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload={"text": "Go on as you see fit."},
    )


def _long(by: User) -> Run:
    from runs.models import Agent
    from tests.support.advance import provider, settle
    from tests.support.replies import calls, text

    agent = Agent.objects.create(
        slug="long",
        name="Long",
        prompt=installation.PROMPT,
        model=installation.MODEL,
        plan_first=False,
        grants={"calculate": {"policy": "auto"}},
    )
    script = [
        calls(("calculate", {"expression": f"{n} * 17 + 4"})) for n in range(LONG - 1)
    ]
    with provider(*script, text("All the records agree.")):
        return settle(installation.start(agent, by))


# ---- how often each


@dataclass(frozen=True)
class _Plan:
    """Which run is copied how often, and whether its review stays open."""

    copies: Sequence[tuple[Any, int, bool]]

    @classmethod
    def of(cls, size: Size, parked: list[Run], done: list[Run], long: Run) -> _Plan:
        waiting = [(run, size.reviews // len(parked), True) for run in parked]
        short = sum(run.sequence for run in done) / len(done)
        others = size.runs - size.reviews
        missing = size.steps - others * short - size.reviews * short
        longs = max(0, round(missing / (long.sequence - short)))
        ended = [(run, (others - longs) // len(done), False) for run in done]
        return cls([*waiting, *ended, (long, longs, False)])


# ---- multiplying


def _multiply(run: Run, copies: int, is_open: bool) -> None:
    """Copy the run and all that hangs on it, in a few statements."""
    from reviews.models import Decision, Review
    from runs.models import Step, Transition

    _sql("DROP TABLE IF EXISTS copies")
    _sql(
        "CREATE TEMP TABLE copies AS SELECT n, gen_random_uuid() AS run,"
        " make_interval(secs => n::float * %s / %s) AS ago"
        " FROM generate_series(1, %s) AS n",
        DAYS * 86_400,
        copies,
        copies,
    )
    _copy(type(run), f"id = '{run.pk}'", id="copies.run", **_times(type(run)), **_RUN)
    for model in (Step, Transition):
        _copy(model, f"run_id = '{run.pk}'", run_id="copies.run", **_times(model))
    _copy(
        Review,
        f"run_id = '{run.pk}'",
        id=_COPIED.format(id="old.id"),
        run_id="copies.run",
        search_text="old.search_text || E'\\nNo. ' || copies.n",
        **(_LATER if is_open else _times(Review)),
    )
    _copy(
        Decision,
        f"review_id IN (SELECT id FROM reviews_review WHERE run_id = '{run.pk}')",  # noqa: S608 - our own ids
        review_id=_COPIED.format(id="old.review_id"),
        **_times(Decision),
    )


_LATER = {
    name: f"old.{name} + copies.n * interval '1 second'"
    for name in ("due_at", "rank_at")
}
_COPIED = "md5({id}::text || copies.n)::uuid"
"""A copy's id, told from that of its original, so that rows find each other."""
_RUN = {
    "task": "old.task || E'\\nNo. ' || copies.n",
    "search_text": "old.search_text || E'\\nNo. ' || copies.n",
    "submit_key": "NULL",
}


def _times(model: type[Model]) -> dict[str, str]:
    from django.db.models import DateTimeField

    times = [f for f in model._meta.concrete_fields if isinstance(f, DateTimeField)]
    names = [str(field.column) for field in times]
    return {name: f'old."{name}" - copies.ago' for name in names}


def _copy(model: type[Model], where: str, **changed: str) -> None:
    """Insert each of the rows once per copy, with these columns put otherwise."""
    from django.db.models import AutoField

    fields = model._meta.concrete_fields
    columns = [str(f.column) for f in fields if not isinstance(f, AutoField)]
    values = ", ".join(changed.get(name, f'old."{name}"') for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    table = f'"{model._meta.db_table}"'
    _sql(
        f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} AS old, copies"  # noqa: S608 - names of our own models
        f" WHERE old.{where}"
    )


def _sql(statement: str, *values: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


if __name__ == "__main__":
    main()
