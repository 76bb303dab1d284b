"""How many runs one worker holds: `python -m tests.bench.concurrency`.

Many runs become due in one moment, each of 5 model calls and 4 tool calls, against
a model that takes half a second, or five, for each answer. One `manage.py worker`
drives them. Ideal is the time of the model calls alone. Prints a table and, as the
last line, JSON in the shape of the peers' harness.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from typing import Any
from uuid import UUID

from agentops.conf import Product
from tests.bench import installation
from tests.bench.store import Store
from tests.bench.stub import Stub
from tests.bench.tree import Tree, worker

CALLS = 5
LATER_S = 60.0
THREADS = Product().threads
"""Of each driver, as shipped; a tree of three workers has two drivers."""
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="200,1000", help="runs at once, …")
    parser.add_argument("--latencies", default="500,5000", help="milliseconds, …")
    parser.add_argument("--threads", type=int, default=THREADS)
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    counts = [int(part) for part in arguments.counts.split(",")]
    latencies = [int(part) for part in arguments.latencies.split(",")]
    with (
        tempfile.TemporaryDirectory(prefix="agentops-bench-") as folder,
        Stub() as stub,
        installation.database() as url,
    ):
        installation.prepare(url, folder)
        people = installation.person(), installation.agent()
        store, found = Store(url), []
        for latency_ms in latencies:
            environment = _environment(
                url,
                folder,
                OPENAI_BASE_URL=stub.base_url(CALLS, latency_ms),
                AGENTOPS_THREADS=str(arguments.threads),
            )
            with worker(environment) as tree:
                measure(people, store, tree, stub, 4, 0)
                for count in counts:
                    found.append(measure(people, store, tree, stub, count, latency_ms))
        store.close()
    report(found)


def _environment(url: str, folder: str, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return kept | installation.environment(url, folder, **more)


def measure(
    people: tuple[Any, Any],
    store: Store,
    tree: Tree,
    stub: Stub,
    count: int,
    latency_ms: int,
) -> dict[str, Any]:
    from runs.models import Run
    from tests.bench.proof import assert_complete

    _settled()
    idle_mb = tree.pss_mb()
    ids = submit(*people, count)
    store.checkpoint()
    place, served = store.place(), stub.served()
    tree.watch_anew()
    cpu_s, store_s = tree.cpu_s(), store.cpu_s()
    begun_at = make_due(ids)
    while Run.objects.filter(finished_at=None).exists():
        time.sleep(0.1)
    runs = Run.objects.filter(pk__in=ids)
    ended_at = max(run.finished_at.timestamp() for run in runs if run.finished_at)
    waits = sorted(r.started_at.timestamp() - begun_at for r in runs if r.started_at)
    cpu_s, store_s = tree.cpu_s() - cpu_s, store.cpu_s() - store_s
    steps, commits = count * (2 * CALLS - 1), store.commits(place)
    assert stub.served() - served == count * CALLS
    assert_complete(ids, CALLS)
    wall_s, ideal_s = ended_at - begun_at, CALLS * latency_ms / 1000
    return {
        "runs": count,
        "llm_calls": CALLS,
        "latency_ms": latency_ms,
        "wall_s": wall_s,
        "ideal_s": ideal_s,
        "times_ideal": wall_s / ideal_s if ideal_s else None,
        "steps_per_s": steps / wall_s,
        "cpu_ms_per_step": cpu_s / steps * 1000,
        "store_cpu_ms_per_step": store_s / steps * 1000,
        "commits_per_step": commits / steps,
        "idle_pss_mb": idle_mb,
        "peak_pss_mb": tree.peak_mb,
        "first_step_s": {"median": waits[len(waits) // 2], "last": waits[-1]},
    }


def submit(by: Any, agent: Any, count: int) -> list[UUID]:
    """Submitted for later, so that the wake-ups this sends are over before the clock
    starts; what a submission costs is measured in `overhead`."""
    from django.db import transaction

    from agentops import clock
    from runs.models import Run

    with transaction.atomic():
        ids = [installation.start(agent, by).pk for _ in range(count)]
        Run.objects.filter(pk__in=ids).update(wake_at=clock.later(LATER_S))
    _settled()
    return ids


def make_due(ids: list[UUID]) -> float:
    """All in one moment; the moment."""
    from agentops import clock
    from runs.models import Run

    Run.objects.filter(pk__in=ids).update(wake_at=clock.now())
    return time.time()


def _settled() -> None:
    """Wait until the queue is empty but for drivers."""
    from runs import queue
    from tests.support.wait import wait_until

    wait_until(lambda: queue.length() <= 2, timeout_s=120, what="a quiet queue")


def report(found: list[dict[str, Any]]) -> None:
    heads = (
        "runs | model answers in | s | ideal | x ideal | CPU ms/step | PostgreSQL CPU | "
        "commits/step | PSS MB idle | PSS MB peak | last began after s"
    )
    print(f"| {heads} |\n|{'---:|' * (heads.count('|') + 1)}")
    for one in found:
        print(
            f"| {one['runs']} | {one['latency_ms'] / 1000} s | {one['wall_s']:.1f} | "
            f"{one['ideal_s']:.1f} | {one['times_ideal']:.2f} | "
            f"{one['cpu_ms_per_step']:.2f} | {one['store_cpu_ms_per_step']:.2f} | "
            f"{one['commits_per_step']:.2f} | {one['idle_pss_mb']:.0f} | "
            f"{one['peak_pss_mb']:.0f} | {one['first_step_s']['last']:.1f} |"
        )
    print(
        json.dumps({"peer": "agentops", "mode": "concurrent", "concurrent": found}),
        flush=True,
    )


if __name__ == "__main__":
    main()
