"""What a durable step costs: `python -m tests.bench.overhead`.

One run at a time, of n model calls and n - 1 tool calls, so 2n - 1 steps: submitted,
claimed, driven and completed by the product's own parts in this process, against a
model on the loopback that answers at once, on PostgreSQL. Prints a table and, as
the last line, JSON in the shape of the peers' harness.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from typing import Any
from uuid import UUID

from tests.bench import installation
from tests.bench.store import Store
from tests.bench.stub import Stub

PLAN = "10:20,50:6,200:3"
GOALS = {
    "ms a step": "1.8",
    "at 200 / at 10": "1.25",
    "commits a step": "1.1",
    "KB WAL a run of 10": "40",
}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", default=PLAN, help="model calls:runs, …")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    plan = [tuple(map(int, part.split(":"))) for part in arguments.plan.split(",")]
    with (
        tempfile.TemporaryDirectory(prefix="agentops-bench-") as folder,
        Stub() as stub,
        installation.database() as url,
    ):
        installation.prepare(url, folder)
        bench = Bench(url, stub)
        rounds = [bench.round(plan) for _ in range(arguments.rounds)]
        wake_up = bench.wake_up_ms()
        bench.close()
    lengths = {n: middle([found[n] for found in rounds]) for n, _ in plan}
    report(lengths, wake_up)


class Bench:
    """The installation, and the driver that all runs go through."""

    def __init__(self, url: str, stub: Stub) -> None:
        from contextlib import ExitStack

        from tests.bench.inline import driving

        self._stub, self._store = stub, Store(url)
        self._by, self._agent = installation.person(), installation.agent()
        self._open = ExitStack()
        self._driver = self._open.enter_context(driving())

    def close(self) -> None:
        self._open.close()
        self._store.close()

    def round(self, plan: list[tuple[int, ...]]) -> dict[int, dict[str, Any]]:
        self._warm_up()
        return {calls: self._length(calls, repeats) for calls, repeats in plan}

    def _warm_up(self) -> None:
        """And see, outside of any measurement, that its runs are leased."""
        from runs import engine
        from tests.bench.proof import assert_leased

        with self._model(3):
            for _ in range(3):
                self._one()
            run = installation.start(self._agent, self._by)
            self._driver._next_claim_at = 0.0
            self._driver._claim()
            assert_leased(run, self._driver.owner)
            self._driver.until_rest()
        assert self._driver._engine is engine

    def _model(self, calls: int) -> Any:
        """The stub behind the real client: how long a run is stands in its URL."""
        from runs.llm.openai import OpenAIClient
        from runs.llm.registry import using

        return using(OpenAIClient(self._stub.base_url(calls), "sk-bench-only"))

    def _one(self) -> tuple[UUID, float]:
        begun = time.perf_counter()
        run = installation.start(self._agent, self._by)
        self._driver.until_rest()
        return run.pk, time.perf_counter() - begun

    def _length(self, calls: int, repeats: int) -> dict[str, Any]:
        from tests.bench.proof import assert_complete

        self._store.checkpoint()
        served, store_s, place = self._stub.served(), self._store.cpu_s(), 0
        with self._model(calls):
            self._one()  # the pages' first change after a checkpoint is logged whole
            place, served = self._store.place(), self._stub.served()
            cpu_s, store_s = own_cpu_s(), self._store.cpu_s()
            done = [self._one() for _ in range(repeats)]
            cpu_s, store_s = own_cpu_s() - cpu_s, self._store.cpu_s() - store_s
        steps, wal = 2 * calls - 1, self._store.place() - place
        commits = self._store.commits(place)
        assert self._stub.served() - served == calls * repeats
        assert_complete([run_id for run_id, _ in done], calls)
        walls = [wall_s for _, wall_s in done]
        return {
            "runs": repeats,
            "steps": steps,
            "ms_per_step": statistics.median(walls) / steps * 1000,
            "best_ms_per_step": min(walls) / steps * 1000,
            "steps_per_s": steps / statistics.median(walls),
            "cpu_ms_per_step": cpu_s / repeats / steps * 1000,
            "store_cpu_ms_per_step": store_s / repeats / steps * 1000,
            "kb_written_per_run": wal / repeats / 1024,
            "commits_per_step": commits / repeats / steps,
            "rows_per_run": rows([run_id for run_id, _ in done]) / repeats,
        }

    def wake_up_ms(self, times: int = 20) -> list[float]:
        """From the commit of a submission to the first step, with a driver polling."""
        from runs.models import Run

        found = []
        with self._model(1):
            for _ in range(times):
                run = installation.start(self._agent, self._by)
                committed_at = time.time()
                while Run.objects.filter(pk=run.pk, finished_at=None).exists():
                    self._driver.turn()
                started_at = Run.objects.get(pk=run.pk).started_at
                assert started_at is not None
                found.append((started_at.timestamp() - committed_at) * 1000)
        return found


def own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rows(ids: list[UUID]) -> int:
    from runs.models import Step, Transition

    kinds = (Step, Transition)
    return sum(kind.objects.filter(run__in=ids).count() for kind in kinds)


def middle(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The round in the middle (of two the faster), whole: its numbers belong together."""
    by_time = sorted(found, key=lambda one: one["ms_per_step"])
    best = min(one["best_ms_per_step"] for one in found)
    return by_time[(len(found) - 1) // 2] | {"best_ms_per_step": best}


def report(lengths: dict[int, dict[str, Any]], wake_up: list[float]) -> None:
    heads = (
        "model calls | steps | ms/step | best | CPU ms/step | PostgreSQL CPU | "
        "commits/step | KB WAL/run | KB/step | rows/run"
    )
    print(f"| {heads} |\n|{'---:|' * (heads.count('|') + 1)}")
    for calls, one in lengths.items():
        cells = (
            f"{calls} | {one['steps']} | {one['ms_per_step']:.2f} | "
            f"{one['best_ms_per_step']:.2f} | {one['cpu_ms_per_step']:.2f} | "
            f"{one['store_cpu_ms_per_step']:.2f} | {one['commits_per_step']:.2f} | "
            f"{one['kb_written_per_run']:.0f} | "
            f"{one['kb_written_per_run'] / one['steps']:.2f} | {one['rows_per_run']:.0f}"
        )
        print(f"| {cells} |")
    short, long = min(lengths), max(lengths)
    growth = lengths[long]["ms_per_step"] / lengths[short]["ms_per_step"]
    print(f"\nms/step at {long} over {short} calls: {growth:.2f}")
    print(
        f"wake-up (submission to first step, a driver polling): median "
        f"{statistics.median(wake_up):.0f} ms, worst {max(wake_up):.0f} ms"
    )
    found = {
        "peer": "agentops",
        "mode": "serial",
        "lengths": lengths,
        "growth": growth,
        "wake_up_ms": statistics.median(wake_up),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
