"""A chart is drawn from what a tool answered, and only where nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from reviews import charts
from runs.models import Step

pytestmark = pytest.mark.once

RULES = ["a month grows more than 30 %"]
ROWS: list[list[Any]] = [
    ["2024-07", "North America", 1_250_000],
    ["2024-08", "North America", 1_380_000],
    ["2024-09", "North America", 1_895_000],
]


def answered(rows: Any, number: int = 5, columns: Any = None, **fields: Any) -> Step:
    result = {"columns": columns or ["month", "region", "revenue"], "rows": rows}
    values = {"kind": "tool", "status": "succeeded", "name": "query_database"}
    return Step(number=number, response={"result": result}, **(values | fields))


def test_the_growth_a_rule_speaks_of_is_drawn_and_told():
    chart = charts.growth(RULES, [answered(ROWS)])

    assert chart is not None
    assert [c.name for c in chart.columns] == ["Jul", "Aug", "Sep"]
    assert [c.value for c in chart.columns] == ["1,250,000", "1,380,000", "1,895,000"]
    assert [c.change for c in chart.columns] == ["", "+10.4 %", "+37.3 %"]
    assert [c.is_flagged for c in chart.columns] == [False, False, True]
    assert chart.step == 5
    assert chart.in_words == (
        "Revenue: July 2024 1,250,000; August 2024 1,380,000, up 10.4 percent;"
        " September 2024 1,895,000, up 37.3 percent, above the rule's 30 percent"
    )


def test_the_same_figures_read_twice_are_one_series():
    chart = charts.growth(RULES, [answered(ROWS), answered(ROWS, 7)])

    assert chart is not None
    assert chart.step == 7


def test_a_year_is_drawn_with_the_flagged_changes_alone():
    rows = [[f"2024-{month:02}", 100 + month] for month in range(1, 12)]
    rows.append(["2024-12", 400])

    chart = charts.growth(RULES, [answered(rows, columns=["month", "revenue"])])

    assert chart is not None
    assert [c.change for c in chart.columns if c.change] == ["+260.4 %"]
    assert not any(c.value for c in chart.columns)
    assert all(0 <= c.x <= charts.WIDTH - c.thick for c in chart.columns)


@pytest.mark.parametrize(
    "rules",
    [
        [],
        ["the recipient is outside the company"],
        ["a month grows fast"],
        ["a month grows more than 30 %", "a month grows more than 50 %"],
    ],
)
def test_a_rule_without_one_limit_of_growth_draws_nothing(rules):
    assert charts.growth(rules, [answered(ROWS)]) is None


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (ROWS[:1], None),
        ([], None),
        ([*ROWS, ["2024-10", "Europe", 5]], None),
        ([row[:2] for row in ROWS], ["month", "region"]),
        ([[*row, 1.5] for row in ROWS], ["month", "region", "revenue", "cost"]),
        ([["July", "N", 1], ["August", "N", 2]], None),
        (ROWS[::-1], None),
        ([ROWS[0], ROWS[0]], None),
        ([ROWS[0], ["2024-08", "North America", 0]], None),
        ([ROWS[0], ["2024-08", "North America", None]], None),
        ([ROWS[0], ["2024-08", "North America", True]], None),
        ([ROWS[0], ["2024-08", "North America"]], None),
        ([[f"{2000 + n}-01", "N", n + 1] for n in range(13)], None),
    ],
)
def test_what_is_not_one_clear_series_is_not_drawn(rows, columns):
    assert charts.growth(RULES, [answered(rows, columns=columns)]) is None


def test_two_series_are_one_too_many():
    other = [[month, region, amount + 1] for month, region, amount in ROWS]

    assert charts.growth(RULES, [answered(ROWS), answered(other, 7)]) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "model"},
        {"status": "failed"},
        {"response": {"is_error": True, "result": {"columns": ["a"], "rows": []}}},
        {"response": None},
    ],
)
def test_only_what_a_tool_answered_is_drawn(fields):
    step = answered(ROWS)
    for name, value in fields.items():
        setattr(step, name, value)

    assert charts.growth(RULES, [step]) is None


def test_a_budget_is_a_bar_of_used_reserved_and_limit():
    burn = charts.burn({"used": "$0.4900", "needed": "$0.0700", "limit": "$0.5000"})

    assert burn is not None
    assert (burn.used, burn.reserved, burn.limit) == (87.5, 12.5, 89.3)
    assert burn.in_words == (
        "$0.4900 used, $0.0700 reserved for the next call, limit $0.5000"
    )


@pytest.mark.parametrize("figures", [{}, {"used": "x", "needed": "1", "limit": "2"}])
def test_figures_of_something_else_are_no_bar(figures):
    assert charts.burn(figures) is None
