"""So many kills, at points first and of roles then, by one seed."""

from __future__ import annotations

import random
from pathlib import Path

from tests.crashes.matrix import points, site
from tests.crashes.matrix.roles import Killer
from tests.crashes.matrix.tally import Tally
from tests.support.outside.servers import Outside
from tests.support.postgres import Server

EACH_ROLE = 10


def play(
    folder: Path,
    template: str,
    outside: Outside,
    server: Server | None,
    seed: int,
    kills: int,
    tally: Tally,
) -> None:
    """So many kills: each role ten times if that many are wanted, points the rest."""
    chance = random.Random(seed)
    with points.children(folder / "points", template, outside) as children:
        at_points = points.Points(children, outside, chance, tally)
        at_points.kill(kills - _of_roles(kills, server))
    with site.installed(folder / "site", template, outside, chance, server) as made:
        killer = Killer(made, chance, tally)
        killer.kill(kills - tally.kills)
        killer.finish()


def _of_roles(kills: int, server: Server | None) -> int:
    roles = 12 if server else 10  # freezes are no kills
    return min(roles * EACH_ROLE, kills // 3)
