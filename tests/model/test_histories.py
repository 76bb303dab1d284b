"""Random histories: whatever models, tools, crashes and people do, the rules hold.

The suite tries the same few histories each time, `make fuzz` new ones.
"""

from __future__ import annotations

import os
import time

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model import FUZZ_MINUTES, FUZZ_SEED
from tests.model.histories import History
from tests.model.played import tried
from tests.model.world import make_people_and_agents

pytestmark = pytest.mark.django_db


def in_suite() -> settings:
    """The same few histories each time, whoever runs them; PostgreSQL takes twice as
    long for one."""
    return settings(
        max_examples=4 if connection.vendor == "postgresql" else 6,
        stateful_step_count=25,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )


def for_long() -> settings:
    """New ones; what fails is made as short as can be."""
    return settings(
        in_suite(),
        max_examples=20,
        stateful_step_count=60,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
    )


@pytest.fixture(autouse=True)
def _installation(db, configured):
    configured(
        review_expires_s=3600.0,
        review_expires_high_risk_s=3600.0,
        undo_irreversible_s=5.0,
    )
    make_people_and_agents()


def test_the_rules_hold_in_every_history(capsys):
    minutes = float(os.environ.get(FUZZ_MINUTES, 0))
    if not minutes:
        run_state_machine_as_test(History, settings=in_suite())
        return
    number = int(os.environ.get(FUZZ_SEED, time.time()))
    ends_at = time.monotonic() + minutes * 60
    while time.monotonic() < ends_at:
        with capsys.disabled():
            print(f"seed {number}, so far {dict(tried)}", flush=True)  # noqa: T201
        run_state_machine_as_test(seed(number)(History), settings=for_long())
        number += 1
