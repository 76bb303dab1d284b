"""The command: prints the tables, and ends with 1 if anything was not as asked."""

from __future__ import annotations

import argparse
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.settings")
django.setup()

# ruff: noqa: E402 - the models need the apps

from runs.models import Effect, Run
from tests.bench.load import figures, proof
from tests.bench.load.book import Book
from tests.bench.load.site import Feeder, Site, installed, people_command, under_way
from tests.bench.load.watch import Part, Watch
from tests.support.project import ROOT
from tests.support.wait import wait_until

SUBMITTERS = 0.2
REST_S = 300.0
BAD = ("Traceback", " ERROR ", " CRITICAL ")


def main() -> int:
    wanted = _arguments()
    logging.disable(logging.WARNING)
    submitters = max(1, round(wanted.people * SUBMITTERS))
    operators = wanted.people - submitters
    with (
        tempfile.TemporaryDirectory(prefix="agentops-load-") as made,
        installed(Path(made), operators, submitters) as site,
    ):
        command = people_command(
            site, operators, submitters, wanted.seconds, wanted.seed
        )
        book, parts = _loaded(site, command, wanted)
        wrong = [*proof.broken(book, site.outside), *_logged(site)]
        _tell(site, book, wanted)
    print("\n".join(figures.report(book, parts, wanted.seconds)))
    wrong += figures.too_much(book, parts)
    for one in wrong[:50]:
        print(f"wrong: {one}")
    print("as asked" if not wrong else f"{len(wrong)} things are wrong")
    return 1 if wrong else 0


def _loaded(
    site: Site, command: list[str], wanted: argparse.Namespace
) -> tuple[Book, list[Part]]:
    """Book and parts, when the people have gone and every run has come to rest."""
    feeder = Feeder(wanted.runs, random.Random(wanted.seed))
    feeder.feed()
    feeder.start()
    watch = Watch(site)
    watch.start()
    people = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    parts = watch.leave()
    feeder.leave()
    if people.returncode:
        raise SystemExit(people.stderr)
    site.model.hurry()
    wait_until(_is_at_rest, timeout_s=REST_S, what="the rest of all runs", pause_s=1)
    return Book.loads(people.stdout), parts


def _is_at_rest() -> bool:
    started = Effect.objects.filter(status="started").exists()
    return under_way() == 0 and not started


def _logged(site: Site) -> list[str]:
    """Lines that the person on call would have to look into."""
    lines = (
        site.project.log("web").splitlines() + site.project.log("worker").splitlines()
    )
    return [f"log: {line}" for line in lines if any(bad in line for bad in BAD)]


def _tell(site: Site, book: Book, wanted: argparse.Namespace) -> None:
    states = Run.objects.values_list("state", flat=True)
    ended = sum(state == "completed" for state in states)
    print(
        f"{wanted.people} people, {wanted.runs} runs under way, {wanted.seconds} s:"
        f" {len(book.decisions)} decisions, {book.taken_back} taken back,"
        f" {book.second} times somebody else was faster;"
        f" {ended} of {len(states)} runs completed,"
        f" {site.outside.counts().total()} mails"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make loadtest ARGS=…")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    print(f"took {time.monotonic() - began:.0f} s")
    sys.exit(code)
