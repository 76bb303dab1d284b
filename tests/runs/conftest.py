"""Fixtures for tests of runs."""

from __future__ import annotations

import pytest


@pytest.fixture
def quick_driver(settings, tmp_path, configured, monkeypatch):
    """A driver that polls, looks around and leaves sooner; slots of this test's own."""
    from runs import driver, lone, losses

    settings.VAR_DIR = tmp_path
    configured(poll_s=0.01, drain_s=0.2, threads=20)
    monkeypatch.setattr(driver.Driver, "linger_s", 0.3)
    monkeypatch.setattr(lone.LoneDriver, "linger_s", 0.3)
    monkeypatch.setattr(driver, "LOOK_S", 0.1)
    monkeypatch.setattr(losses, "LONGEST_PAUSE_S", 0.01)
