"""What can be decided on many items together, and what is said to be missing."""

from __future__ import annotations

import pytest

from agentops import clock
from reviews import preflight
from tests.support import factory

pytestmark = pytest.mark.django_db


def test_it_says_why_what_cannot_be_undone_is_not_approved_together(client):
    ana = factory.make_user("ana", "operators")
    letters = [factory.park() for _ in range(3)]

    look = preflight.of(preflight.Asked([one.pk for one in letters]), ana, clock.now())

    missing = {one.words: one.cause for one in look.missing}
    assert missing == {"Approve": "Its call cannot be undone: decide on it by itself."}
    client.force_login(ana)
    page = client.get(f"/reviews/alike/{letters[0].shape}/").content.decode()
    assert "Approve is not offered for these together: Its call cannot" in page
