"""A history: what drivers, models, tools, crashes and people do, one event at a time."""

from __future__ import annotations

from tests.model.at_work import AtWork
from tests.model.deciding import Deciding
from tests.model.dying import Dying


class History(AtWork, Dying, Deciding):
    """One history: each rule is one thing that somebody does, or that happens."""
