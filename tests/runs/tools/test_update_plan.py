"""A plan has items, and what was dropped says why."""

from __future__ import annotations

import pytest

from runs.errors import InvalidCall
from runs.tools.perform import perform
from runs.tools.update_plan import update_plan
from tests.runs.tools.calls import context

pytestmark = pytest.mark.once


def test_it_returns_the_items_in_one_form() -> None:
    items = [
        {"text": " Query ", "status": "done"},
        {"text": "Mail", "status": "dropped", "reason": "nobody to mail"},
        {"text": "Write"},
    ]

    result = perform(update_plan, {"items": items, "reason": "changed"}, context())

    assert result == {
        "plan": [
            {"text": "Query", "status": "done", "reason": ""},
            {"text": "Mail", "status": "dropped", "reason": "nobody to mail"},
            {"text": "Write", "status": "open", "reason": ""},
        ]
    }


@pytest.mark.parametrize(
    "items",
    [[], [{"text": ""}], [{"text": "a", "status": "late"}], [{"text": "a", "x": 1}]],
)
def test_it_refuses_items_that_are_none(items: list[dict[str, str]]) -> None:
    with pytest.raises(InvalidCall, match="items"):
        update_plan.validate({"items": items, "reason": "changed"})


def test_a_dropped_item_needs_a_reason() -> None:
    items = [{"text": "Mail", "status": "dropped"}]

    with pytest.raises(InvalidCall, match="dropped item needs a reason"):
        update_plan.validate({"items": items, "reason": "changed"})
