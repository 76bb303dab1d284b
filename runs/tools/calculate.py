"""Exact arithmetic: a small expression, parsed, never run as code.

Decimal with 100 digits inside; an integer comes back whole, anything else with 28
significant digits. Numbers beyond 10**1000 and text that could keep the parser
busy are refused before any work is done.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    localcontext,
)
from typing import Annotated

from pydantic import Field

from runs.errors import InvalidCall
from runs.tools.base import Effect, tool

DIGITS_SHOWN = 28
MAX_LENGTH = 2_000
MAX_NESTING = 30
MAX_POWERS = 10
MAX_EXPONENT = 1_000_000
_KNOWN = "Only numbers, + - * / // % ** ( ) and functions are known."
_ARITHMETIC = Context(
    prec=100,
    Emax=1_000,
    Emin=-1_000,
    rounding=ROUND_HALF_UP,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)
_TOKEN = re.compile(
    r"""(?P<number>(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?(?![\w.]))
      | (?P<word>[a-z_]\w*) | (?P<sign>\*\*|//|[-+*/%(),\[\]]) | \s+""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_SIGNS = re.compile(r"([+-]\s*){4}")

Value = Decimal


@tool(effect=Effect.READ, keeps_deadline=True)
def calculate(
    expression: Annotated[str, Field(min_length=1, max_length=MAX_LENGTH)],
) -> dict[str, str]:
    """Work out an arithmetic expression exactly, for example (1895000 - 1380000) / 1380000 * 100.

    Knows + - * / // % ** and parentheses, and the functions round(x, digits), min,
    max, sum, abs, mean and pct_change(old, new). Write numbers without thousands
    separators.
    """
    expression = " ".join(expression.split())
    _refuse_what_is_no_arithmetic(expression)
    with localcontext(_ARITHMETIC):
        try:
            value = _value(_parsed(expression), expression)
            return {"expression": expression, "value": _shown(value)}
        except (DivisionByZero, ZeroDivisionError):
            raise InvalidCall("The expression divides by zero.") from None
        except (Overflow, Underflow):
            raise InvalidCall(
                "A number is too large or too small to work with."
            ) from None
        except DecimalException:
            raise InvalidCall("The expression has no value.") from None


def _refuse_what_is_no_arithmetic(expression: str) -> None:
    """Bounds the parser's depth: it would use up a small thread's stack."""
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        if token is None:
            raise InvalidCall(_unknown(expression[position]))
        if token["word"] and token["word"] not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise InvalidCall(f"{token['word']} is not known; functions are {known}.")
        position = token.end()
    nested = _nesting(expression) > MAX_NESTING
    if nested or expression.count("**") > MAX_POWERS or _SIGNS.search(expression):
        raise InvalidCall("The expression is nested too deep: work it out in parts.")


def _unknown(character: str) -> str:
    if character == "^":
        return "Write a power as **, not as ^."
    return f"{character!r} is not arithmetic: {_KNOWN}"


def _nesting(expression: str) -> int:
    depth = deepest = 0
    for character in expression:
        depth += (character in "([") - (character in ")]")
        deepest = max(deepest, depth)
    return deepest


def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else "too long"
        raise InvalidCall(f"The expression cannot be read: {detail}.") from None


def _value(node: ast.expr, source: str) -> Value:
    match node:
        case ast.Constant():
            return _number(node, source)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, source)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, source)
        case ast.BinOp():
            return _chain(node, source)
        case ast.Call():
            return _call(node, source)
        case ast.Tuple():
            raise InvalidCall("Write numbers without commas: 1250000, not 1,250,000.")
    raise InvalidCall(_KNOWN)


def _number(node: ast.Constant, source: str) -> Value:
    """The digits as they were written: a float would already have lost some."""
    written = source[node.col_offset : node.end_col_offset]
    return +Decimal(written.replace("_", ""))


def _chain(node: ast.BinOp, source: str) -> Value:
    """Works a long sum off from the left without nesting calls."""
    pending: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        pending.append(left)
        left = left.left
    value = _value(left, source)
    for step in reversed(pending):
        value = _operation(step.op)(value, _value(step.right, source))
    return value


def _operation(sign: ast.operator) -> Callable[[Value, Value], Value]:
    known = _OPERATIONS.get(type(sign))
    if known is None:
        raise InvalidCall("Only + - * / // % and ** are known.")
    return known


def _power(base: Value, exponent: Value) -> Value:
    if abs(exponent) > MAX_EXPONENT:
        raise InvalidCall(f"An exponent may be at most {MAX_EXPONENT}.")
    return base**exponent


def _modulo(left: Value, right: Value) -> Value:
    """With the sign of the divisor, as in Python."""
    rest = left % right
    return rest + right if rest and (rest < 0) != (right < 0) else rest


def _floor(left: Value, right: Value) -> Value:
    return (left - _modulo(left, right)) // right


def _call(node: ast.Call, source: str) -> Value:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in _FUNCTIONS or node.keywords:
        raise InvalidCall("Functions are called as name(value, value).")
    nodes = node.args
    if len(nodes) == 1 and isinstance(nodes[0], ast.List):
        nodes = nodes[0].elts
    try:
        return _FUNCTIONS[name](*[_value(item, source) for item in nodes])
    except (TypeError, ValueError):
        raise InvalidCall(f"{name} was called with the wrong values.") from None


def _round(value: Value, digits: Value = Decimal(0)) -> Value:
    """Halves go away from zero, as people round money."""
    if digits != digits.to_integral_value() or abs(digits) > DIGITS_SHOWN:
        raise ValueError(digits)
    return value.quantize(Decimal(1).scaleb(-int(digits)))


def _minimum(*values: Value) -> Value:
    return min(values)


def _maximum(*values: Value) -> Value:
    return max(values)


def _sum(*values: Value) -> Value:
    return sum(values, Decimal(0))


def _absolute(value: Value) -> Value:
    return abs(value)


def _mean(*values: Value) -> Value:
    return _sum(*values) / len(values)


def _pct_change(old: Value, new: Value) -> Value:
    return (new - old) / old * 100


def _shown(value: Value) -> str:
    """Plain digits; integers whole, fractions with `DIGITS_SHOWN` digits."""
    if value != value.to_integral_value():
        value = Context(prec=DIGITS_SHOWN, rounding=ROUND_HALF_UP).plus(value)
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


_OPERATIONS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: _floor,
    ast.Mod: _modulo,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "round": _round,
    "min": _minimum,
    "max": _maximum,
    "sum": _sum,
    "abs": _absolute,
    "mean": _mean,
    "pct_change": _pct_change,
}
