"""agentops as one of the peers: a script for the harness that measures them all.

Its README says how: with `lib.py` of the harness on the path and this project's
requirements in the environment, `PEERS="<venv> <this file> agentops yes"`.

One process, as the others: the product's driver with its slot, leases, heartbeat and
I/O threads, led by `inline.py` so that it claims at once and not at its next poll.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from tests.bench import installation

HELD = 1024
"""Runs that the one driver may hold, as `AGENTOPS_THREADS` would say."""


class Agentops:
    """What the harness asks for: `run(n)`, and `many(count, n, latency_ms)`."""

    def __init__(self, context: Any) -> None:
        installation.prepare(context.database(), AGENTOPS_THREADS=str(HELD))

        from tests.bench.inline import driving

        self._context = context
        self._clients: dict[tuple[int, int], Any] = {}
        self._by, self._agent = installation.person(), installation.agent()
        self._driving = driving()
        self._driver = self._driving.__enter__()

    def run(self, calls: int) -> str:
        with self._model(calls, 0):
            run = installation.start(self._agent, self._by)
            self._driver.until_rest()
        return self._outputs([run.pk])[0]

    def many(self, count: int, calls: int, latency_ms: int) -> list[str]:
        with self._model(calls, latency_ms):
            runs = [installation.start(self._agent, self._by) for _ in range(count)]
            self._driver.until_rest()
        return self._outputs([run.pk for run in runs])

    def rows(self) -> int:
        from runs.models import Step

        return Step.objects.count()

    def close(self) -> None:
        self._driving.__exit__(None, None, None)

    def _model(self, calls: int, latency_ms: int) -> Any:
        from runs.llm.openai import OpenAIClient
        from runs.llm.registry import using

        key = calls, latency_ms
        if key not in self._clients:
            url = self._context.base_url(calls, latency_ms)
            self._clients[key] = OpenAIClient(url, "x")
        return using(self._clients[key])

    def _outputs(self, ids: list[Any]) -> list[str]:
        from runs.models import Run

        found = dict(Run.objects.filter(pk__in=ids).values_list("pk", "output"))
        return [found[run_id] for run_id in ids]


def build(context: Any) -> Any:
    from lib import Peer  # type: ignore[import-not-found]

    agentops = Agentops(context)
    return Peer(
        agentops.run,
        agentops.many,
        durable="input, output, reservation and state of each step",
        packages=("django", "psycopg"),
        rows=agentops.rows,
        close=agentops.close,
        server_pids=context.pg_pids,
        wal=context.wal(),
    )


if __name__ == "__main__":
    from lib import main

    main({"agentops": build})
