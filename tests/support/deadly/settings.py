"""The product with the deadly tool."""

from __future__ import annotations

from agentops.settings import *  # noqa: F403
from agentops.settings import INSTALLED_APPS as APPS

INSTALLED_APPS = [*APPS, "tests.support.deadly"]
