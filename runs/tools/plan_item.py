"""The extra argument by which a call names the item of the plan it is for."""

from __future__ import annotations

from collections.abc import Mapping

from runs.canonical import Json
from runs.tools.base import PLAN_ITEM

MOST_ITEMS = 1000


def take_plan_item(
    arguments: Mapping[str, Json],
) -> tuple[dict[str, Json], int | None]:
    """The arguments without `plan_item`, and its number if it is a sensible one."""
    rest = {name: value for name, value in arguments.items() if name != PLAN_ITEM}
    number = _number(arguments.get(PLAN_ITEM))
    return rest, number if number and 0 < number <= MOST_ITEMS else None


def _number(value: Json) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value[:9])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
