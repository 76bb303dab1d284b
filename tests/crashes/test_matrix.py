"""The crash matrix in short: a dozen kills. The long one is `make crashtest`."""

from __future__ import annotations

import pytest

from tests.crashes.matrix.playing import play
from tests.crashes.matrix.tally import Tally
from tests.support import acts
from tests.support.outside import servers

pytestmark = pytest.mark.process

KILLS = 12


def test_a_dozen_kills_break_nothing(
    tmp_path, migrated_database, django_db_blocker, monkeypatch
):
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    tally = Tally()

    with django_db_blocker.unblock(), servers.serving() as outside:
        play(tmp_path, migrated_database, outside, None, 1, KILLS, tally)

    assert tally.broken == []
    assert tally.kills == KILLS
