"""The command: prints the table, and ends with 1 if an invariant broke."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.settings")
django.setup()

# ruff: noqa: E402 - the models need the apps

from tests.crashes.matrix.playing import play
from tests.crashes.matrix.tally import Tally
from tests.support import acts, databases, postgres
from tests.support.outside import servers
from tests.support.outside.servers import Outside
from tests.support.postgres import Server
from tests.support.project import LiveProject

KILLS = 500


def main() -> int:
    wanted = _arguments()
    logging.disable(logging.WARNING)
    seed = wanted.seed if wanted.seed is not None else random.randrange(10_000)
    print(f"crash matrix: --kills {wanted.kills} --seed {seed} --db {wanted.db}")
    began, tally = time.monotonic(), Tally(_say)
    with _world(wanted.db) as (folder, template, outside, server):
        play(folder, template, outside, server, seed, wanted.kills, tally)
    print("\n".join(tally.lines()))
    print(f"kills: {tally.kills} in {time.monotonic() - began:.0f} s")
    return 1 if tally.broken else 0


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _world(db: str) -> Iterator[tuple[Path, str, Outside, Server | None]]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ[acts.LOG] = str(folder / "acts")
        server = stack.enter_context(postgres.own()) if db == "postgres" else None
        os.environ[databases.ENVIRONMENT] = server.url if server else ""
        outside = stack.enter_context(servers.serving())
        template = stack.enter_context(databases.fresh(folder))
        project = LiveProject(folder, template)
        project.manage("migrate", "--verbosity", "0")
        project.stop()
        yield folder, template, outside, server


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make crashtest ARGS=…")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--db", choices=databases.KINDS, default="postgres")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
