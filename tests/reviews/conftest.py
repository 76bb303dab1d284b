"""What the tests of reviews share: the tool the factory's agents use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.tools import registry
from tests.support import factory


@pytest.fixture(autouse=True)
def letters() -> Iterator[None]:
    """`post_letter` is a registered tool."""
    with registry.added(factory.LETTER):
        yield
