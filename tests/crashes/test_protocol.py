"""A run whose process dies at any point of the step protocol ends as it should.

A child plays the run and is killed at a point; the next one goes on and is killed
when it gets there for the second time, and so on, until one gets to the end. The
points come from the code, and `test_points.py` proves that no write is without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reviews.models import Decision
from runs.models import Effect, Run, Step
from tests.crashes.source import all_points
from tests.support import acts, databases, sound
from tests.support.crashing import (
    Children,
    assert_ended,
    doubts,
    effects_of,
    in_doubt,
    make_people,
    retire_all,
    run_of,
)

pytestmark = pytest.mark.process

UNDONE = ("undo", "take back")
OVERTAKEN = ("late result", "overtaken")
REACHED_ONLY_AFTER = {"inside reconcile": "inside register"}
MOST_DEATHS = 40
EACH_CHILD = "end driver"
# To reconcile is an act as well, and comes before the act that did not happen; and a
# child that finds the run untouched claims it and gives it back, twice.
THRICE = ("act", "claim", "forfeit")
EFFECTS = {
    "letters": {"register": 1, "post": 1},
    "overtaken": {"overtaken": 1},
    "changed": {"post": 1},
    "undone": {"post": 1},
    "forked": {},
    "poison": {},
    "restored": {"post": 1},
}


@pytest.fixture(scope="module")
def children(
    tmp_path_factory: pytest.TempPathFactory,
    migrated_database: str,
    django_db_blocker: Any,
) -> Iterator[Children]:
    folder = tmp_path_factory.mktemp("crashes")
    (folder / "var").mkdir()
    with (
        django_db_blocker.unblock(),
        databases.fresh(folder, migrated_database) as url,
        databases.rows_of(url),
        pytest.MonkeyPatch.context() as patch,
    ):
        make_people()
        children = Children(folder, url)
        patch.setenv(acts.LOG, str(children.acts))
        yield children
        children.stop()


@pytest.fixture(autouse=True)
def _alone(children: Children) -> Iterator[None]:
    yield
    retire_all()


@pytest.mark.parametrize("point", all_points())
def test_a_run_ends_as_it_should_wherever_its_process_dies(
    children: Children, point: str
) -> None:
    scenario, doubtful = _scenario(point), set[int]()

    deaths = 0
    for at in _schedule(point):
        if not children.play(scenario, point, at):
            break
        deaths += at.startswith(point)
        doubtful |= in_doubt(point)

    run = run_of(point)
    assert deaths, f"{point} is never reached"
    assert run
    assert effects_of(run) == EFFECTS[scenario]
    if scenario == "forked":
        _assert_forked(run)
        return
    if run.state == "aborted":
        _assert_overtaken(run)
        return
    assert run.state == "completed"
    assert doubts(run) == len(doubtful)
    assert_ended(run)


def _scenario(point: str) -> str:
    if point.endswith(OVERTAKEN):
        return "overtaken"
    if point.endswith(UNDONE):
        return "undone"
    if point.endswith("fork"):
        return "forked"
    if point.endswith("mark restored"):
        return "restored"
    if point.endswith("show anew"):
        return "changed"
    return "poison" if point.endswith("claim poisoned") else "letters"


def _schedule(point: str) -> Iterator[str]:
    """Die there, and in each child after it at a later time, so that each gets further
    by one step."""
    if point in REACHED_ONLY_AFTER:
        yield REACHED_ONLY_AFTER[point]
    yield point
    for _ in range(MOST_DEATHS):
        yield f"{point}#{3 if point.endswith(THRICE) else 2}"
        if point.endswith(EACH_CHILD):
            return
    raise AssertionError(f"{point} is reached for ever")


def _assert_overtaken(run: Run) -> None:
    """What was done stays done once, and what came too late changes nothing."""
    assert Effect.objects.get(run=run).status in {"started", "done"}
    assert not Step.objects.filter(run=run, number__gt=run.sequence).exists()


def _assert_forked(run: Run) -> None:
    """One run ended as the other began: there is one fork, and it did what was left."""
    fork = Run.objects.get(forked_from=run)
    assert (run.state, fork.state) == ("aborted", "completed")
    assert effects_of(fork) == {"post": 1}
    assert [d.kind for d in Decision.objects.filter(review__run=run)] == ["fork"]
    sound.assert_sound(run, fork)
