"""Random histories: whatever models, tools, crashes and people do, the rules hold.

The suite tries the same few histories each time; `AGENTOPS_TEST_FUZZ_MINUTES` tries
new ones for that long (`make fuzz`).
"""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.histories import History, tried
from tests.model.world import make_people_and_agents

pytestmark = pytest.mark.django_db

FUZZ = "AGENTOPS_TEST_FUZZ_MINUTES"


def in_suite() -> settings:
    """The same few histories each time, whoever runs them."""
    return settings(
        max_examples=8,
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
    minutes = float(os.environ.get(FUZZ, 0))
    if not minutes:
        run_state_machine_as_test(History, settings=in_suite())
        return
    ends_at, number = time.monotonic() + minutes * 60, int(time.time())
    while time.monotonic() < ends_at:
        number += 1
        run_state_machine_as_test(seed(number)(History), settings=for_long())
        with capsys.disabled():
            print(f"to seed {number}: {dict(tried)}", flush=True)  # noqa: T201
