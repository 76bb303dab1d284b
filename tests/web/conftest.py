"""The scene, and silence: thousands of refusals are no news."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from runs.tools import registry
from tests.support import factory
from tests.web import scene


@pytest.fixture
def here(db: None) -> Iterator[scene.Scene]:
    with registry.added(factory.LETTER):
        made = scene.make()
        logging.disable(logging.CRITICAL)
        try:
            yield made
        finally:
            logging.disable(logging.NOTSET)
