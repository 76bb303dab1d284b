"""Fixtures for tests of runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.tools import registry
from tests.support import factory


@pytest.fixture
def letters() -> Iterator[None]:
    """`post_letter`, which the factory's agents use, is a registered tool."""
    with registry.added(factory.LETTER):
        yield


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


@pytest.fixture
def as_submitter(client, people):
    client.force_login(people.submitter)
    return client


@pytest.fixture
def as_operator(client, people):
    client.force_login(people.operator)
    return client
