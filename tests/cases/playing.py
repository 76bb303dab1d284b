"""Play a run against a script, and read what was said."""

from __future__ import annotations

import json

from tests.support.advance import provider, settle
from tests.support.replies import text

DONE = text("Done.")


def play(run, *script, **options):
    """The run at its end or park, and the model that was asked."""
    with provider(*script, **options) as model:
        run = settle(run)
    return run, model


def entry(name, id="c1", **function):  # noqa: A002
    return {"id": id, "type": "function", "function": {"name": name, **function}}


def echoed(result):
    return json.loads(result)["said"]
