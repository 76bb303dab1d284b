"""Arithmetic is exact, and nothing but arithmetic is done."""

from __future__ import annotations

import contextlib
import threading

import pytest

from runs.errors import InvalidCall
from runs.tools.base import Deadline
from runs.tools.calculate import calculate
from runs.tools.perform import perform
from tests.runs.tools.calls import context
from tests.support.wait import cut_short

pytestmark = pytest.mark.once


def value(expression: str) -> str:
    return str(perform(calculate, {"expression": expression}, context())["value"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(1895000 - 1380000) / 1380000 * 100", "37.31884057971014492753623188"),
        ("pct_change(1250000, 1380000)", "10.4"),
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 3", "3.3"),
        ("123456789012345678.123456789 * 10", "1234567890123456781.23456789"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("2 ** 0.5 * 2 ** 0.5", "2"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("2 ** -1", "0.5"),
        ("round((1 + 0.05 / 365) ** 3650, 4)", "1.6487"),
        ("-2 ** 2", "-4"),
        ("10 - 2 - 3", "5"),
        ("2 ** 3 ** 2", "512"),
        ("round(2.675, 2)", "2.68"),
        ("round(37.3188, 1)", "37.3"),
        ("round(1250, -2)", "1300"),
        ("min(3, 1, 2) + max([4, 6, 5])", "7"),
        ("sum(1, 2, 3) / 3", "2"),
        ("mean([1, 2, 4])", "2.333333333333333333333333333"),
        ("abs(-5)", "5"),
        ("1_000 * 2", "2000"),
        ("1e3 + 1", "1001"),
        (" 1 +\n 2 ", "3"),
        ("0 * -1", "0"),
    ],
)
def test_it_calculates(expression: str, expected: str) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("9**9**9", "exponent"),
        ("9**-9**9", "exponent"),
        ("1e999 ** 2", "too large"),
        ("9**1000000", "too large"),
        ("0.5**1000000", "too small"),
        ("1e999999999", "too large"),
        ("1 / 0", "divides by zero"),
        ("1 % 0", "no value"),
        ("0 / 0", "no value|divides"),
        ("mean([])", "divides|no value|wrong values"),
        ("1,250,000 * 2", "without commas"),
        ("2 ^ 3", r"\*\*"),
        ("1 +", "cannot be read"),
        ("__import__('os')", "not known"),
        ("abs.__class__", "is not arithmetic|not known"),
        ("(lambda: 1)()", "not known"),
        ("1 if 1 else 2", "not known"),
        ("1if 1else 2", "is not arithmetic"),
        ("0x10", "is not arithmetic"),
        ("'a' * 3", "is not arithmetic"),
        ("[1, 2]", "Only numbers"),
        ("round(1, 0.5)", "wrong values"),
        ("round(1, 2, 3)", "wrong values"),
        ("round(x=1)", "not known|is not arithmetic"),
        ("round", "Only numbers"),
        ("(1)(2)", "name"),
        ("1j", "is not arithmetic"),
        ("٣ + 1", "is not arithmetic"),
        ("(" * 31 + "1" + ")" * 31, "nested too deep"),
        ("-" * 500 + "1", "nested too deep"),
        ("**1" * 12, "nested too deep"),
        ("", "expression"),
        ("1" * 2001, "expression"),
    ],
)
def test_it_tells_the_model_what_is_wrong(expression: str, message: str) -> None:
    with cut_short(), pytest.raises(InvalidCall, match=message):
        value(expression)


def test_the_longest_expressions_fit_a_small_stack() -> None:
    longest = ["1" + "+1" * 999, "(" * 30 + "1" + ")" * 30, "1" + "**1" * 10]
    results: list[str] = []
    size = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.extend(map(value, longest)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)

    assert results == ["1000", "1", "1"]


HEAVY = [
    "9**9**9**9",
    "9**999999",
    "1.0000001**999999.5",
    "*".join(["1.1**999999.123"] * 10),
    "**".join(["1.01"] * 11),
    "9" * 2_000,
    "9" * 990 + "**" + "9" * 990,
    "1e999999999999999999999",
    "1e1000 % 1e-1000",
    "+".join(["1"] * 1_000),
    "round(" * 28 + "1" + ")" * 28,
    "-" * 2_000,
    "(" * 1_000 + ")" * 1_000,
    "max(" + ",".join(["1e900"] * 300) + ")",
    "1" + " " * 1_998 + "(",
]


@pytest.mark.parametrize("expression", HEAVY, ids=lambda text: text[:20])
def test_no_expression_keeps_it_busy(expression: str) -> None:
    deadline = Deadline.after(5)

    with contextlib.suppress(InvalidCall):
        perform(calculate, {"expression": expression}, context())

    assert deadline.remaining()


NO_ARITHMETIC = [
    "__import__('os').system('id')",
    "().__class__.__bases__",
    "(1).__class__",
    "1 if 1 else 2",
    "lambda: 1",
    "[x for x in (1,)]",
    "1 << 999999",
    "5!",
    "0x10",
    "1j",
    "'a' * 9",
    "True",
    "\u0663 + \u0663",
    "\uff11 + 1",
    "1\u00a0+ 1_",
    "sum(*[1])",
    "round(1, digits=2)",
    "(max)(1)((2))",
    "1; 2",
    "x := 1",
    "# comment",
]


@pytest.mark.parametrize("expression", NO_ARITHMETIC)
def test_what_is_no_arithmetic_is_never_run(expression: str) -> None:
    with pytest.raises(InvalidCall):
        perform(calculate, {"expression": expression}, context())
