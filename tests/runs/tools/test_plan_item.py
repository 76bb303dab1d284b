"""A call names the item of the plan it is for, beside its own arguments."""

from __future__ import annotations

import pytest

from runs.tools.plan_item import take_plan_item

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (2, 2),
        ("3", 3),
        (4.0, 4),
        (True, None),
        ("x", None),
        (None, None),
        ([1], None),
        (0, None),
        (-1, None),
        (10**9, None),
        ("9" * 5000, None),
    ],
)
def test_the_item_is_taken_out_and_read_if_it_is_one(
    given: object, number: int | None
) -> None:
    assert take_plan_item({"a": 1, "plan_item": given}) == ({"a": 1}, number)
