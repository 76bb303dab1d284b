"""The product's own settings, with one more app: the bench and its tool."""

from __future__ import annotations

from agentops.settings import *  # noqa: F403
from agentops.settings import INSTALLED_APPS as SHIPPED

INSTALLED_APPS = [*SHIPPED, "tests.bench"]
