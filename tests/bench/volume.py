"""What a page costs when there is much: `python -m tests.bench.volume`.

Every page of the desk and of the runs is asked for many times, as an operator who
may decide for some agents, from a database as `tests.bench.seed` fills it, through the
whole stack of middleware, views and templates in this process. Prints a table: queries,
and the middle and 95th percentile of the time at the server, PostgreSQL's included.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.bench import installation
from tests.bench.seed import TOLD, Size, options, seed

if TYPE_CHECKING:
    from django.test import Client

ROUNDS = 40
WARM = 3
MOST_QUERIES = 15
MOST_MS = 100.0


@dataclass(frozen=True)
class Page:
    """One kind of page; its addresses are asked for in turn, by POST with `sent`."""

    name: str
    addresses: list[str]
    sent: dict[str, list[str]] | None = None

    def ask(self, client: Client, address: str) -> Any:
        if self.sent is None:
            return client.get(address)
        return client.post(address, self.sent)


@dataclass(frozen=True)
class Figure:
    name: str
    queries: int
    middle_ms: float
    late_ms: float
    kilobytes: float

    @property
    def is_good(self) -> bool:
        return self.queries <= MOST_QUERIES and self.late_ms <= MOST_MS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="pages whose name has this")
    given = parser.parse_args()
    size = Size(given.runs, given.steps, given.reviews)
    with (
        tempfile.TemporaryDirectory(prefix="agentops-bench-") as folder,
        filled(folder, size),
    ):
        client = _signed_in()
        chosen = [page for page in pages() if given.only in page.name]
        figures = [measure(client, page, given.rounds) for page in chosen]
    report(figures)


@contextmanager
def filled(folder: str, size: Size) -> Iterator[None]:
    """The database of DATABASE_URL if it is seeded already, else a new one."""
    known = os.environ.get("AGENTOPS_BENCH_SEEDED", "")
    if known:
        installation.prepare(known, folder, **TOLD)
        yield
        return
    with installation.database() as url:
        installation.prepare(url, folder, **TOLD)
        start = time.monotonic()
        print(seed(size), f"in {time.monotonic() - start:.0f} s", flush=True)
        yield


def _signed_in() -> Client:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.get(username="operator"))
    return client


# ---- what is asked for


def pages() -> list[Page]:
    """All of it; ids are taken from all over the tables."""
    return [*_desk(), *_runs()]


def _desk() -> list[Page]:
    from reviews.models import Review
    from reviews.saved_views import NAMES

    newest = Review.objects.open().order_by("-due_at").values_list("pk", flat=True)
    some = [str(pk) for pk in newest[:: max(1, len(newest) // ROUNDS)]]
    inbox = "/reviews/"
    return [
        Page("inbox", [inbox]),
        Page(
            "inbox, views",
            [f"{inbox}?view={view}" for view in NAMES],
        ),
        Page("inbox, by reason", [f"{inbox}?reason={r}" for r in _reasons()]),
        Page("inbox, by agent", [f"{inbox}?agent={slug}" for slug in _agents()]),
        Page(
            "inbox, by tool, submitter, age, cost",
            [
                f"{inbox}?tool=send_email",
                f"{inbox}?by=submitter",
                f"{inbox}?older=day",
                f"{inbox}?cost=0.001",
            ],
        ),
        Page("inbox, search for a common word", [f"{inbox}?q=summary"]),
        Page("inbox, search for a rare word", [f"{inbox}?q=No.+{n}77" for n in "123"]),
        Page("inbox, search without a hit", [f"{inbox}?q=zyzzyva"]),
        Page("inbox, decided, search", [f"{inbox}?view=decided&q=summary"]),
        Page("inbox, rows again", [f"{inbox}rows/"], {"id": some}),
        Page("review", [f"{inbox}{pk}/" for pk in some]),
        Page("review, pane", [f"{inbox}{pk}/pane/" for pk in some]),
    ]


def _reasons() -> list[str]:
    from reviews.models import Review

    return list(
        Review.objects.open().order_by().values_list("reason", flat=True).distinct()
    )


def _agents() -> list[str]:
    from runs.models import Agent

    return list(Agent.objects.values_list("slug", flat=True))


def _runs() -> list[Page]:
    from runs.models import Run

    runs = Run.objects.order_by("created_at")
    short = [
        str(pk)
        for pk in runs.filter(sequence__lt=50).values_list("pk", flat=True)[:ROUNDS]
    ]
    long = [
        str(pk)
        for pk in runs.filter(sequence__gt=300).values_list("pk", flat=True)[:10]
    ]
    last = runs.filter(sequence__gt=300).values_list("sequence", flat=True)[0]
    return [
        Page("runs", ["/runs/"]),
        Page(
            "runs, by state",
            [
                f"/runs/?state={s}"
                for s in ("active", "error", "completed", "awaiting_human")
            ],
        ),
        Page("runs, by agent", [f"/runs/?agent={slug}" for slug in _agents()]),
        Page("runs, by submitter", ["/runs/?by=submitter", "/runs/?by=operator"]),
        Page("runs, with errors", ["/runs/?errors=1"]),
        Page("runs, search for a common word", ["/runs/?q=summary"]),
        Page("runs, search for a rare word", [f"/runs/?q=No.+{n}77" for n in "123"]),
        Page("runs, search without a hit", ["/runs/?q=zyzzyva"]),
        Page("run", [f"/runs/{pk}/" for pk in short]),
        Page("run, 399 steps", [f"/runs/{pk}/" for pk in long]),
        Page("run, earlier steps", [f"/runs/{pk}/steps/?before=200" for pk in long]),
        Page(
            "run, the prompt of its last step",
            [f"/runs/{pk}/steps/{last}/" for pk in long],
        ),
    ]


# ---- measuring


def measure(client: Client, page: Page, rounds: int) -> Figure:
    """Queries at the worst of the addresses, and the times of all."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    queries = 0
    for address in page.addresses[:10]:
        with CaptureQueriesContext(connection) as captured:
            answer = page.ask(client, address)
        assert answer.status_code == 200, (address, answer.status_code)
        queries = max(queries, len(captured))
    turns = itertools.cycle(page.addresses)
    for _ in range(WARM):
        page.ask(client, next(turns))
    gc.collect()
    before = _resident()
    times = [_time(client, page, next(turns)) for _ in range(rounds)]
    late = statistics.quantiles(times, n=20)[-1]
    figure = Figure(
        page.name, queries, statistics.median(times), late, _resident() - before
    )
    print(_row(figure), flush=True)
    return figure


def _time(client: Client, page: Page, address: str) -> float:
    start = time.perf_counter()
    page.ask(client, address)
    return (time.perf_counter() - start) * 1000


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def report(figures: list[Figure]) -> None:
    bad = [figure.name for figure in figures if not figure.is_good]
    print(f"\nmore than {MOST_QUERIES} queries or {MOST_MS:.0f} ms: {bad or 'none'}")
    found: dict[str, Any] = {figure.name: vars(figure) for figure in figures}
    print(json.dumps(found))


def _row(figure: Figure) -> str:
    return (
        f"| {figure.name} | {figure.queries} | {figure.middle_ms:.0f}"
        f" | {figure.late_ms:.0f} | {figure.kilobytes / 1024:.1f} |"
    )


if __name__ == "__main__":
    main()
