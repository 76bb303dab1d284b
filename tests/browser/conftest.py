"""A live project with the sample agents and the demo's people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import global_settings

from tests.browser.story import set_the_scene
from tests.support.project import LiveProject


@pytest.fixture
def project(live_project: Callable[..., LiveProject], settings: Any) -> LiveProject:
    """Web server and worker run; the demo model takes 0.15 s for an answer."""
    # The processes check passwords as an installation does, not as quickly as tests.
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    made = live_project(AGENTOPS_DEMO="1", AGENTOPS_DEMO_LATENCY_S="0.15")
    set_the_scene(made)
    return made
