"""Deaths at the named points of the step protocol, in random order.

A run is played by children, each of which dies where it is told to; after a few
deaths one plays it to its end. Half of the runs act on real servers.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from runs.models import Effect, Run
from tests.crashes.matrix.tally import Tally
from tests.crashes.source import all_points
from tests.support import databases
from tests.support.crashing import (
    Children,
    assert_ended,
    doubts,
    in_doubt,
    make_people,
    retire_all,
    run_of,
)
from tests.support.outside.servers import Outside

MOST_DEATHS = 4
AGAIN = 3
# Reached only while something else goes on, which a scenario of the child plays.
APART = {
    "late result": "overtaken",
    "overtaken": "overtaken",
    "undo": "undone",
    "take back": "undone",
    "fork": "forked",
    "mark restored": "restored",
    "show anew": "changed",
    "claim poisoned": "poison",
}
OF_LETTERS = ("idempotent", "post", "retry", "claim alone", "forfeit")
FIRST = {"inside reconcile": "inside register"}


@contextlib.contextmanager
def children(folder: Path, template: str, outside: Outside) -> Iterator[Children]:
    """Ready to play, on a database of their own that the ORM works on meanwhile."""
    (folder / "var").mkdir(parents=True)
    with (
        databases.fresh(folder, template) as url,
        databases.rows_of(url),
    ):
        make_people()
        made = Children(folder, url, outside.environment())
        try:
            yield made
        finally:
            made.stop()


class Points:
    """Plays runs until so many children have died."""

    def __init__(
        self, made: Children, outside: Outside, chance: random.Random, tally: Tally
    ) -> None:
        self._children = made
        self._outside = outside
        self._chance = chance
        self._tally = tally
        self._numbers = itertools.count(1)

    def kill(self, number: int) -> None:
        """Every point in turn, in random order, until `number` deaths are reached."""
        wanted = self._tally.kills + number
        while self._tally.kills < wanted:
            points = all_points()
            self._chance.shuffle(points)
            for point in points:
                if self._tally.kills >= wanted:
                    return
                self._play(point, wanted - self._tally.kills)

    def _play(self, point: str, most: int) -> None:
        scenario = self._scenario(point)
        key = f"{point} {next(self._numbers)}"
        doubtful: set[int] = set()
        for at in itertools.islice(self._deaths(point, scenario), most):
            died = self._children.play(scenario, key, at)
            if at == point and not died:
                self._tally.broke(point, "it is never reached")
            if died:
                row = self._tally.point(at.partition("#")[0])
                row.kills += 1
                found = in_doubt(key)
                row.seen["acts in doubt"] += len(found - doubtful)
                doubtful |= found
        self._children.play(scenario, key)
        self._look(key, point, scenario, doubtful)
        retire_all()
        self._tally.say(f"{self._tally.kills}: {point}")

    def _scenario(self, point: str) -> str:
        for end, scenario in APART.items():
            if point.endswith(end):
                return scenario
        if any(word in point for word in OF_LETTERS):
            return "letters"
        return self._chance.choice(["letters", "outside"])

    def _deaths(self, point: str, scenario: str) -> Iterator[str]:
        """There first; then anywhere that a run of the scenario gets to."""
        if point in FIRST:
            yield FIRST[point]
        yield point
        others = [p for p in all_points() if not any(map(p.endswith, APART))]
        for _ in range(self._chance.randrange(MOST_DEATHS)):
            again = self._chance.choice([point] if scenario in _ALONE else others)
            yield f"{again}#{self._chance.randint(2, AGAIN)}"

    def _look(self, key: str, point: str, scenario: str, doubtful: set[int]) -> None:
        run = run_of(key)
        row = self._tally.point(point)
        if run is None:
            self._tally.broke(point, "there is no run")
            return
        fork = Run.objects.filter(forked_from=run).first()
        row.seen[(fork or run).state] += 1
        try:
            self._check(fork or run, scenario, doubtful)
        except AssertionError as error:
            self._tally.broke(f"{point}, run {run.pk} ({scenario})", error)

    def _check(self, run: Run, scenario: str, doubtful: set[int]) -> None:
        keys = Effect.objects.filter(run=run).values_list("key", flat=True)
        happened = {key: self._outside.count(key) for key in keys}
        assert all(number <= 1 for number in happened.values()), happened
        if run.state == "aborted" and scenario == "overtaken":
            return
        assert run.state == "completed", run.state
        assert all(number == 1 for number in happened.values()), happened
        if scenario != "forked":
            assert doubts(run) == len(doubtful), f"asked {doubts(run)} times"
            assert_ended(run)


_ALONE = set(APART.values())
